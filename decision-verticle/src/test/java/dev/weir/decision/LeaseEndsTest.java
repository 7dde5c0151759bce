package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Plan;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LeaseEndsTest {

  private static final Plan PLAN = Plans.bucket("p", 1, Duration.ofSeconds(1), 1);
  private static final int SLOT_MILLIS = (int) (LeaseEnds.SLOT_MICROS / 1_000);

  private final VirtualClock clock = new VirtualClock();
  private final LeaseEnds ends = new LeaseEnds(clock);

  private KeyEntry add(String key, Duration left) {
    KeyEntry entry = new KeyEntry(key, new BoundPlan(1, PLAN, false));
    ends.add(entry, clock.micros() + left.toNanos() / 1_000);
    return entry;
  }

  private List<String> due() {
    List<String> keys = new ArrayList<>();
    boolean some = true;
    while (some) {
      some = ends.due(entry -> keys.add(entry.key));
    }
    return keys;
  }

  @Provide
  static Arbitrary<List<Integer>> lefts() {
    return Arbitraries.integers().between(0, 3_000).list().ofMinSize(1).ofMaxSize(30);
  }

  @Property(tries = 200)
  void anEntryIsVisitedOnceSoonAfterItsEndAndNotBefore(
      @ForAll("lefts") List<Integer> lefts, @ForAll @IntRange(min = 1, max = 200) int stepMillis) {
    for (int i = 0; i < lefts.size(); i++) {
      add(Integer.toString(i), Duration.ofMillis(lefts.get(i)));
    }
    List<String> visited = new ArrayList<>();
    for (int at = stepMillis; at <= 3_500 + stepMillis; at += stepMillis) {
      clock.advance(Duration.ofMillis(stepMillis));
      for (String key : due()) {
        int left = lefts.get(Integer.parseInt(key));
        assertThat(at).isBetween(left, Math.max(1, left) + 2 * SLOT_MILLIS + stepMillis);
        visited.add(key);
      }
    }
    assertThat(visited).doesNotHaveDuplicates().hasSameSizeAs(lefts);
    assertThat(ends.isEmpty()).isTrue();
  }

  @Test
  void thoseOfOneSlotAreVisitedAtOnceAndOthersTheNextTime() {
    add("a", Duration.ofMillis(10));
    add("b", Duration.ofMillis(10));
    add("c", Duration.ofMillis(10 + 2 * SLOT_MILLIS));
    clock.advance(Duration.ofMillis(10 + 4 * SLOT_MILLIS));
    List<String> visited = new ArrayList<>();

    assertThat(ends.due(entry -> visited.add(entry.key))).isTrue();
    assertThat(visited).containsExactlyInAnyOrder("a", "b");
    assertThat(ends.due(entry -> visited.add(entry.key))).isTrue();
    assertThat(visited).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(ends.due(entry -> visited.add(entry.key))).isFalse();
  }

  @Test
  void afterALongSleepAllThatEndedMeanwhileAreVisited() {
    add("a", Duration.ofMillis(10));
    add("b", Duration.ofSeconds(2));
    clock.advance(Duration.ofDays(1));
    assertThat(due()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void allAreVisitedOnceThoughTheyComeInAgain() {
    add("a", Duration.ofMillis(10));
    add("b", Duration.ofSeconds(2));
    List<String> visited = new ArrayList<>();
    ends.all(
        entry -> {
          visited.add(entry.key);
          ends.add(entry, clock.micros() + 1_000_000);
        });
    assertThat(visited).containsExactlyInAnyOrder("a", "b");
    assertThat(due()).isEmpty();
    clock.advance(Duration.ofMillis(1_000 + 2 * SLOT_MILLIS));
    assertThat(due()).containsExactlyInAnyOrder("a", "b");
  }
}
