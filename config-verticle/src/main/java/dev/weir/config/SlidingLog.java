package dev.weir.config;

import java.time.Duration;

/**
 * The exact sliding window: an entry for every request of the last window. It takes memory in the
 * store for each of them and a store call for each decision, so it is for few keys of high value.
 *
 * @param limit permits in any span of a window, 0 to 10^12
 * @param window at least a millisecond, at most ten years, whole milliseconds
 */
public record SlidingLog(long limit, Duration window) implements Algorithm {

  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public SlidingLog {
    Windows.check(limit, window);
  }

  @Override
  public SlidingLog scaled(long millionths) {
    return new SlidingLog(Windows.scaled(limit, millionths), window);
  }

  @Override
  public SlidingLog part(Shard shard) {
    return new SlidingLog(shard.partOf(limit), window);
  }

  /** The window, in microseconds. */
  public long windowMicros() {
    return window.toNanos() / 1000;
  }

  @Override
  public long quota() {
    return limit;
  }

  @Override
  public long windowSeconds() {
    return Windows.seconds(window);
  }

  @Override
  public long admittedOver(long spanMicros) {
    return Windows.admittedOver(limit, windowMicros(), spanMicros);
  }

  @Override
  public boolean leasable() {
    return false;
  }

  @Override
  public double levelAfter(Consumption then, long elapsedMicros) {
    return elapsedMicros < windowMicros() ? then.used() : 0;
  }

  @Override
  public long microsUntilFits(Consumption then, long elapsedMicros, long cost) {
    // When which entry leaves is known to the store alone; it told so for one cost.
    return cost == then.previous() ? Math.max(0, then.leftMicros() - elapsedMicros) : 0;
  }

  @Override
  public long microsUntilReset(Consumption then, long elapsedMicros) {
    return then.used() > 0 ? Math.max(0, windowMicros() - elapsedMicros) : 0;
  }
}
