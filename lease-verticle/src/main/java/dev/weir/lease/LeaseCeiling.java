package dev.weir.lease;

import dev.weir.config.Limit;
import java.time.Duration;

/**
 * The most permits of a limit that one node may hold, so that all nodes together never hold more
 * than the tolerance allows: {@code max_lease * nodes <= tolerance * limit_over_window}.
 *
 * @param tolerance share of what a limit admits over the window, above 0, at most 1
 * @param windowMicros the accuracy window, microseconds
 */
public record LeaseCeiling(double tolerance, long windowMicros) {

  /**
   * @throws IllegalArgumentException if the tolerance or the window is out of its range
   */
  public LeaseCeiling {
    if (!(tolerance > 0 && tolerance <= 1)) {
      throw new IllegalArgumentException(
          "tolerance: must be above 0 and at most 1, was " + tolerance);
    }
    if (windowMicros <= 0) {
      throw new IllegalArgumentException("accuracy_window: must be above 0");
    }
  }

  /** The ceiling of the given accuracy contract. */
  public static LeaseCeiling of(double tolerance, Duration window) {
    return new LeaseCeiling(tolerance, window.toNanos() / 1000);
  }

  /**
   * Permits that one of {@code nodes} nodes may hold; 0 when not even one fits, and every decision
   * has to ask the store.
   */
  public long of(Limit limit, int nodes) {
    return limit.leased()
        ? (long) (tolerance * limit.algorithm().admittedOver(windowMicros) / nodes)
        : 0;
  }
}
