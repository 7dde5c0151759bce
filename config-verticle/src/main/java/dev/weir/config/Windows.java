package dev.weir.config;

import java.time.Duration;

/** Numbers that the windowed algorithms have in common. */
final class Windows {

  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(3660);

  private Windows() {}

  /** Whole permits of {@code millionths} of {@code quota}. */
  static long scaled(long quota, long millionths) {
    // At most 10^12 times 10^6.
    return quota * millionths / RegionWeights.WHOLE;
  }

  static void check(long limit, Duration window) {
    checkLimit(limit);
    checkWindow(window);
  }

  static void checkLimit(long limit) {
    if (limit < 0 || limit > Algorithm.MAX_QUOTA) {
      throw new IllegalArgumentException(
          "limit: must be from 0 to " + Algorithm.MAX_QUOTA + ", was " + limit);
    }
  }

  static void checkWindow(Duration window) {
    if (window.compareTo(SHORTEST) < 0 || window.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("window: must be from 1ms to 3660d, was " + window);
    }
    if (window.toNanosPart() % 1_000_000 != 0) {
      throw new IllegalArgumentException("window: must be whole milliseconds, was " + window);
    }
  }

  static long seconds(Duration window) {
    return Math.max(1, (window.toMillis() + 999) / 1000);
  }

  /** {@code limit * max(1, span / window)}. */
  static long admittedOver(long limit, long windowMicros, long spanMicros) {
    return (long) (limit * Math.max(1.0, (double) spanMicros / windowMicros));
  }
}
