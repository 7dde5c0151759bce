package dev.weir.config;

/**
 * A counter that starts over with every window. For quotas: around the turn of a window it can let
 * through twice the limit in a short time.
 *
 * @param limit permits per window, 0 to 10^12
 * @param period that the windows make
 */
public record FixedWindow(long limit, WindowPeriod period) implements Algorithm {

  /**
   * @throws IllegalArgumentException if the limit is out of its range
   */
  public FixedWindow {
    Windows.checkLimit(limit);
  }

  @Override
  public FixedWindow scaled(long millionths) {
    return new FixedWindow(Windows.scaled(limit, millionths), period);
  }

  @Override
  public FixedWindow part(Shard shard) {
    return new FixedWindow(shard.partOf(limit), period);
  }

  @Override
  public long quota() {
    return limit;
  }

  @Override
  public long windowSeconds() {
    return Windows.seconds(period.nominal());
  }

  @Override
  public long admittedOver(long spanMicros) {
    return Windows.admittedOver(limit, period.nominal().toNanos() / 1000, spanMicros);
  }

  @Override
  public double levelAfter(Consumption then, long elapsedMicros) {
    return elapsedMicros < then.leftMicros() ? then.used() : 0;
  }

  @Override
  public long microsUntilFits(Consumption then, long elapsedMicros, long cost) {
    return fits(levelAfter(then, elapsedMicros), cost)
        ? 0
        : Math.max(1, then.leftMicros() - Math.max(0, elapsedMicros));
  }

  @Override
  public long microsUntilReset(Consumption then, long elapsedMicros) {
    return Math.max(0, then.leftMicros() - Math.max(0, elapsedMicros));
  }
}
