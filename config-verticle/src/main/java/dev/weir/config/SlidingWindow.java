package dev.weir.config;

import java.time.Duration;

/**
 * Two counters: that of the window under way, and that of the one before weighted by how much of it
 * still lies within one window of now, as if it had come evenly. A burst that did not can be
 * followed by more than the limit within a window, though by no more than twice the limit. In the
 * long run it lets through exactly the limit.
 *
 * <p>Permits are whole, so the weighted count is rounded to the nearest. Without that, the last
 * permit of a window would fit only when the window is over; who asks again and again would get one
 * permit less per window than the limit, and of a limit of one only every other.
 *
 * @param limit permits per window, 0 to 10^12
 * @param window at least a millisecond, at most ten years, whole milliseconds
 */
public record SlidingWindow(long limit, Duration window) implements Algorithm {

  private static final double HALF = 0.5;

  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public SlidingWindow {
    Windows.check(limit, window);
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
  public double levelAfter(Consumption then, long elapsedMicros) {
    long elapsed = Math.max(0, elapsedMicros);
    double window = windowMicros();
    if (elapsed < then.leftMicros()) {
      return then.used() + weighted(then.previous(), (then.leftMicros() - elapsed) / window);
    }
    double left = then.leftMicros() + window - elapsed;
    return left > 0 ? weighted(then.used(), left / window) : 0;
  }

  /** A count by the part of its window that still counts, in whole permits. */
  public static double weighted(double count, double part) {
    return Math.floor(count * part + HALF);
  }

  @Override
  public long microsUntilFits(Consumption then, long elapsedMicros, long cost) {
    long elapsed = Math.max(0, elapsedMicros);
    if (fits(levelAfter(then, elapsed), cost)) {
      return 0;
    }
    double window = windowMicros();
    double at;
    if (fits(then.used(), cost)) {
      // Within the window under way, when enough of the one before has slid out.
      at = then.leftMicros() - (limit - then.used() - cost + HALF) * window / then.previous();
    } else {
      // In the next one, when enough of the one under way has.
      at = then.leftMicros() + window - (limit - cost + HALF) * window / then.used();
    }
    long micros = Math.max(elapsed + 1, (long) Math.floor(at));
    // Past the half, by a microsecond or by what the division has lost.
    while (!fits(levelAfter(then, micros), cost)) {
      micros++;
    }
    return micros - elapsed;
  }

  @Override
  public long microsUntilReset(Consumption then, long elapsedMicros) {
    long elapsed = Math.max(0, elapsedMicros);
    if (then.used() > 0) {
      return Math.max(0, then.leftMicros() + windowMicros() - elapsed);
    }
    return then.previous() > 0 ? Math.max(0, then.leftMicros() - elapsed) : 0;
  }
}
