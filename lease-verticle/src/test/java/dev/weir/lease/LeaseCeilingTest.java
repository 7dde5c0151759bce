package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Limit;
import dev.weir.config.TokenBucket;
import java.time.Duration;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LeaseCeilingTest {

  private static final Duration WINDOW = Duration.ofSeconds(60);

  private static Limit bucket(double rate, Duration period, long capacity) {
    return new Limit(Limit.DEFAULT_NAME, Set.of(), new TokenBucket(rate, period, capacity));
  }

  private final LeaseCeiling ceiling = LeaseCeiling.of(0.01, WINDOW);

  @Test
  void isTheNodesPartOfTheTolerance() {
    Limit bucket = bucket(100, Duration.ofSeconds(1), 100);
    assertThat(ceiling.of(bucket, 1)).isEqualTo(61);
    assertThat(ceiling.of(bucket, 3)).isEqualTo(20);
  }

  @Test
  void isZeroForAStrictLimit() {
    Limit strict =
        new Limit("strict", Set.of(), new TokenBucket(100, Duration.ofSeconds(1), 100), true);
    assertThat(ceiling.of(strict, 1)).isZero();
  }

  @Test
  void isZeroWhereNotEvenOnePermitFits() {
    assertThat(ceiling.of(bucket(5, Duration.ofMinutes(1), 5), 1)).isZero();
    assertThat(ceiling.of(bucket(100, Duration.ofMinutes(1), 100), 3)).isZero();
  }

  @Test
  void doesNotOverflowAtTheLargestNumbers() {
    Limit bucket = bucket(1e9, Duration.ofSeconds(1), 1_000_000_000_000L);
    assertThat(ceiling.of(bucket, 1)).isEqualTo(10_600_000_000L);
  }

  @Test
  void refusesATolerancesOutOfRange() {
    for (double tolerance : new double[] {0, -1, 1.5, Double.NaN}) {
      assertThatThrownBy(() -> LeaseCeiling.of(tolerance, WINDOW))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(String.valueOf(tolerance));
    }
  }

  @Property
  void allNodesTogetherHoldNoMoreThanTheTolerance(
      @ForAll @DoubleRange(min = 0.01, max = 1e9) double perSecond,
      @ForAll @LongRange(min = 0, max = 1_000_000_000_000L) long capacity,
      @ForAll @IntRange(min = 1, max = 50) int nodes) {
    Limit bucket = bucket(perSecond, Duration.ofSeconds(1), capacity);
    double admitted = capacity + perSecond * 60;
    // The two sides round differently, by far less than a permit.
    assertThat((double) ceiling.of(bucket, nodes) * nodes)
        .isLessThanOrEqualTo(0.01 * admitted * (1 + 0x1p-48));
  }
}
