package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

final class ShardTest {

  @Property
  void partsAddUpToTheWholeAndTheFirstIsTheLargest(
      @ForAll @LongRange(min = 0, max = Algorithm.MAX_QUOTA) long units,
      @ForAll @IntRange(min = 1, max = Shard.MOST) int of) {
    List<Long> parts = Shard.all(of).counters().stream().map(shard -> shard.partOf(units)).toList();
    assertThat(parts).hasSize(of);
    assertThat(parts.stream().mapToLong(Long::longValue).sum()).isEqualTo(units);
    assertThat(parts).allSatisfy(part -> assertThat(parts.get(0) - part).isBetween(0L, 1L));
  }

  @Example
  void aPartHasItsShareOfAllNumbers() {
    Limit limit =
        new Limit(
            "x",
            Set.of("search"),
            new TokenBucket(10, Duration.ofSeconds(1), 11),
            true,
            Shard.all(4));
    assertThat(limit.part(3))
        .isEqualTo(
            new Limit(
                "x",
                Set.of("search"),
                new TokenBucket(2.5, Duration.ofSeconds(1), 3),
                true,
                new Shard(3, 4)));
    assertThat(limit.part(4).algorithm().quota()).isEqualTo(2);
    assertThat(new SlidingWindow(5, Duration.ofSeconds(1)).part(new Shard(1, 2)))
        .isEqualTo(new SlidingWindow(3, Duration.ofSeconds(1)));
  }

  @Example
  void aRegionsPartIsTakenFirst() {
    Algorithm bucket = new TokenBucket(10, Duration.ofSeconds(1), 40);
    assertThat(bucket.scaled(500_000).part(new Shard(1, 4)))
        .isEqualTo(new TokenBucket(1.25, Duration.ofSeconds(1), 5));
  }

  @Example
  void numbersOutOfTheirRangeAreRefused() {
    for (int[] wrong : new int[][] {{0, 0}, {0, 65}, {5, 4}, {-1, 4}, {1, 1}}) {
      assertThatThrownBy(() -> new Shard(wrong[0], wrong[1]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("shard");
    }
  }
}
