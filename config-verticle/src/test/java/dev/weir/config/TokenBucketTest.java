package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {

  private static final Duration SECOND = Duration.ofSeconds(1);

  @Test
  void theLevelLeaksContinuously() {
    TokenBucket bucket = new TokenBucket(10, SECOND, 100);
    assertThat(bucket.levelAfter(50, 100_000)).isEqualTo(49);
    assertThat(bucket.levelAfter(50, 5_000_000)).isZero();
    assertThat(bucket.levelAfter(50, -1)).isEqualTo(50);
    assertThat(bucket.microsUntilEmpty(50)).isEqualTo(5_000_000);
  }

  @Test
  void oneAnHourAdmitsExactlyOneAnHour() {
    TokenBucket bucket = new TokenBucket(1, Duration.ofHours(1), 1);
    assertThat(bucket.microsUntilFits(1, 1)).isEqualTo(3_600_000_000L);
    assertThat(bucket.fits(bucket.levelAfter(1, 3_599_999_999L), 1)).isFalse();
    assertThat(bucket.fits(bucket.levelAfter(1, 3_600_000_000L), 1)).isTrue();
  }

  @Test
  void windowAndAdmittedFollowFromTheNumbers() {
    TokenBucket bucket = new TokenBucket(100, SECOND, 1000);
    assertThat(bucket.quota()).isEqualTo(1000);
    assertThat(bucket.windowSeconds()).isEqualTo(10);
    assertThat(bucket.admittedOver(60_000_000)).isEqualTo(7000);
    assertThat(new TokenBucket(100, SECOND, 0).windowSeconds()).isEqualTo(1);
  }

  @Test
  void overflowOfAdmittedSaturates() {
    TokenBucket fastest = new TokenBucket(1e9, SECOND, Algorithm.MAX_QUOTA);
    assertThat(fastest.admittedOver(Long.MAX_VALUE)).isPositive();
    assertThat(fastest.levelAfter(1e12, Long.MAX_VALUE)).isZero();
  }

  @Test
  void overflowOfTimeSaturates() {
    TokenBucket slowest = new TokenBucket(1, Duration.ofDays(365), Algorithm.MAX_QUOTA);
    assertThat(slowest.microsUntilFits(1e12, 1_000_000_000_000L)).isEqualTo(Long.MAX_VALUE);
    assertThat(slowest.microsUntilEmpty(1e12)).isEqualTo(Long.MAX_VALUE);
    assertThat(slowest.windowSeconds()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(
      doubles = {
        0,
        -1,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        1e9 + 1,
        1e-9,
        Double.MIN_VALUE
      })
  void ratesOutOfRangeAreRefused(double rate) {
    assertThatThrownBy(() -> new TokenBucket(rate, SECOND, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("rate: must be ");
  }

  @Test
  void periodsAndCapacitiesOutOfRangeAreRefused() {
    for (Duration period :
        new Duration[] {
          Duration.ZERO,
          Duration.ofNanos(1_500_000),
          Duration.ofDays(3661),
          Duration.ofSeconds(-1),
          Duration.ofSeconds(Long.MAX_VALUE)
        }) {
      assertThatThrownBy(() -> new TokenBucket(1, period, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("period: must be ");
    }
    for (long capacity : new long[] {-1, Algorithm.MAX_QUOTA + 1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> new TokenBucket(1, SECOND, capacity))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("capacity: must be ");
    }
  }

  @Property
  void waitingTheTimeThatItTellsMakesTheCostFit(
      @ForAll("buckets") TokenBucket bucket,
      @ForAll @DoubleRange(min = 0, max = 3) double fill,
      @ForAll @DoubleRange(min = 0, max = 1) double part) {
    double used = bucket.capacity() * fill;
    long cost = (long) (bucket.capacity() * part);
    long wait = bucket.microsUntilFits(used, cost);
    Assume.that(wait < Long.MAX_VALUE);

    assertThat(bucket.fits(bucket.levelAfter(used, wait), cost)).isTrue();
  }

  @Property
  void itNeverTellsToWaitMuchLongerThanNeeded(
      @ForAll("buckets") TokenBucket bucket,
      @ForAll @DoubleRange(min = 0, max = 1) double part,
      @ForAll @DoubleRange(min = 0, max = 1) double there) {
    long cost = (long) (bucket.capacity() * part);
    double used = bucket.capacity() - cost * there;
    long wait = bucket.microsUntilFits(used, cost);
    Assume.that(wait > 2 && wait < 1L << 50);

    // Two microseconds, or as much as a billionth of a permit takes to flow in.
    long earlier = wait - 2 - (long) Math.ceil(1e-9 * bucket.capacity() / bucket.permitsPerMicro());
    assertThat(earlier <= 0 || !bucket.fits(bucket.levelAfter(used, earlier), cost)).isTrue();
  }

  @Property
  void whatIsFreeFitsAndOneMoreDoesNot(
      @ForAll("buckets") TokenBucket bucket, @ForAll @DoubleRange(min = 0, max = 2) double fill) {
    double used = bucket.capacity() * fill;
    long free = bucket.free(used);

    assertThat(free).isBetween(0L, bucket.capacity());
    assertThat(free == 0 || bucket.fits(used, free)).isTrue();
    assertThat(bucket.fits(used, free + 1)).isFalse();
  }

  @Property
  void theLevelFallsWithTimeAndNeverBelowZero(
      @ForAll("buckets") TokenBucket bucket,
      @ForAll @DoubleRange(min = 0, max = 2e12) double used,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long earlier,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long more) {
    double before = bucket.levelAfter(used, earlier);
    double after = bucket.levelAfter(used, earlier + more);
    assertThat(after).isBetween(0.0, before);
  }

  @Provide
  static Arbitrary<TokenBucket> buckets() {
    return Combinators.combine(
            Arbitraries.oneOf(
                Arbitraries.doubles().between(1e-3, 1e9).ofScale(3),
                Arbitraries.longs().between(1, 1000).map(Long::doubleValue)),
            Arbitraries.of(1L, 7L, 1000L, 60_000L, 3_600_000L, 86_400_000L),
            Arbitraries.oneOf(
                Arbitraries.longs().between(0, Algorithm.MAX_QUOTA),
                Arbitraries.longs().between(0, 100)))
        .filter((rate, millis, capacity) -> rate / (millis / 1e3) <= 1e9)
        .filter((rate, millis, capacity) -> rate / (millis / 1e3) >= 1e-7)
        .as((rate, millis, capacity) -> new TokenBucket(rate, Duration.ofMillis(millis), capacity));
  }
}
