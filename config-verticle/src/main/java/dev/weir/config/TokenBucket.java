package dev.weir.config;

import java.time.Duration;

/**
 * A bucket that refills continuously and bursts up to its capacity.
 *
 * @param rate permits that flow in per {@code period}; may be fractional; from 1 a year to 10^9 a
 *     second
 * @param period over which the rate is meant, whole milliseconds, at most ten years
 * @param capacity permits that a full bucket holds, 0 to 10^12
 */
public record TokenBucket(double rate, Duration period, long capacity) implements Algorithm {

  /** Largest rate, in permits per second. */
  public static final double MAX_PERMITS_PER_SECOND = 1e9;

  private static final double MICROS_PER_SECOND = 1e6;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final double SLOWEST_PERMITS_PER_SECOND = 1.0 / Duration.ofDays(366).toSeconds();

  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public TokenBucket {
    if (period.compareTo(Duration.ofMillis(1)) < 0 || period.compareTo(Duration.ofDays(3660)) > 0) {
      throw new IllegalArgumentException("period: must be from 1ms to 3660d, was " + period);
    }
    if (period.toNanosPart() % 1_000_000 != 0) {
      throw new IllegalArgumentException("period: must be whole milliseconds, was " + period);
    }
    double perSecond = rate / (period.toNanos() / 1e9);
    // Written so that NaN is refused as well.
    if (!(perSecond >= SLOWEST_PERMITS_PER_SECOND && perSecond <= MAX_PERMITS_PER_SECOND)) {
      throw new IllegalArgumentException(
          "rate: must be from 1 a year to 1000000000 a second, was "
              + rate
              + " per "
              + Durations.format(period));
    }
    if (capacity < 0 || capacity > MAX_QUOTA) {
      throw new IllegalArgumentException(
          "capacity: must be from 0 to " + MAX_QUOTA + ", was " + capacity);
    }
  }

  @Override
  public TokenBucket scaled(long millionths) {
    double part = (double) millionths / RegionWeights.WHOLE;
    return slowed(rate * part, Windows.scaled(capacity, millionths));
  }

  @Override
  public TokenBucket part(Shard shard) {
    return slowed(rate / shard.of(), shard.partOf(capacity));
  }

  private TokenBucket slowed(double slower, long smaller) {
    boolean tooSlow = slower / (period.toNanos() / 1e9) < SLOWEST_PERMITS_PER_SECOND;
    // Of a rate that cannot be, nothing fits either.
    return tooSlow ? new TokenBucket(rate, period, 0) : new TokenBucket(slower, period, smaller);
  }

  /** Permits that flow in per microsecond. */
  public double permitsPerMicro() {
    return rate / periodMicros();
  }

  /** The period, in microseconds. */
  public double periodMicros() {
    return period.toNanos() / 1e3;
  }

  /**
   * The level that {@code used} has leaked down to, permits, never below 0.
   *
   * @param elapsedMicros since {@code used} was true; a negative time, of a clock that stepped
   *     back, counts as none
   */
  public double levelAfter(double used, long elapsedMicros) {
    if (elapsedMicros <= 0) {
      return used;
    }
    return Math.max(0, used - elapsedMicros * rate / periodMicros());
  }

  /**
   * Microseconds until {@code cost} permits fit on top of what {@code used} has then leaked down
   * to; 0 if they do now. The cost must not exceed the capacity.
   */
  public long microsUntilFits(double used, long cost) {
    return fits(used, cost)
        ? 0
        : (long) Math.ceil((used + cost - capacity) * periodMicros() / rate);
  }

  /** Microseconds until the level {@code used} has leaked away. */
  public long microsUntilEmpty(double used) {
    return (long) Math.ceil(used * periodMicros() / rate);
  }

  @Override
  public boolean windowed() {
    return false;
  }

  @Override
  public double levelAfter(Consumption then, long elapsedMicros) {
    return levelAfter(then.used(), elapsedMicros);
  }

  @Override
  public long microsUntilFits(Consumption then, long elapsedMicros, long cost) {
    return microsUntilFits(levelAfter(then.used(), elapsedMicros), cost);
  }

  @Override
  public long microsUntilReset(Consumption then, long elapsedMicros) {
    // Worked out for each decision: one division.
    double untilEmpty = then.used() * period.toNanos() / (rate * NANOS_PER_MICRO);
    return Math.max(0, (long) Math.ceil(untilEmpty - Math.max(0, elapsedMicros)));
  }

  @Override
  public long quota() {
    return capacity;
  }

  @Override
  public long windowSeconds() {
    return Math.max(1, (long) Math.ceil(capacity / permitsPerMicro() / MICROS_PER_SECOND));
  }

  @Override
  public long admittedOver(long windowMicros) {
    return (long) (capacity + permitsPerMicro() * windowMicros);
  }
}
