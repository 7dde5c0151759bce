package dev.weir.lease;

import dev.weir.config.Algorithm;
import dev.weir.config.SlidingWindow;
import java.util.Optional;

/**
 * What the embedded store holds of limits, under the names that {@code refill.lua} gives it. Owned
 * by one thread.
 */
final class EmbeddedCounters {
  /** An entry outlives its time to empty by this much, as it does in Redis. */
  static final double MARGIN_MILLIS = 10_000;

  private static final double ROUNDING = Algorithm.ROUNDING;

  /** Of a limit of a key. */
  record Name(String key, String limit) {}

  /** Of one window of a limit of a key. */
  record WindowName(Name limit, long number) {}

  /** How a limit is counted, and of a bucket all there is. What no level stands for is void. */
  sealed interface Level {}

  /** A bucket's level, true at {@code atMicros}. */
  record BucketLevel(double used, long atMicros, double expiresMillis) implements Level {}

  /**
   * The last window that was written to.
   *
   * @param lengthMicros of a sliding window; 0 for a fixed one
   * @param period by which two kinds of windows are told apart
   */
  record WindowLevel(long lengthMicros, String period, long number, long endMicros)
      implements Level {
    boolean sliding() {
      return lengthMicros > 0;
    }

    boolean counts(WindowLevel other) {
      return lengthMicros == other.lengthMicros && period.equals(other.period);
    }
  }

  /** That there is a log. */
  record LogLevel(long windowMicros) implements Level {}

  /**
   * What counts now of what was counted in another way.
   *
   * @param units permits
   * @param endMicros of the window that they were counted in, 0 for a bucket
   */
  record Carried(double units, long endMicros) {
    private static final long NEVER = -1;

    /** In whole permits, after what the node gives back of it. */
    double whole(Take take) {
      double left = take.grantedIn() == endMicros ? Math.max(0, units - take.returned()) : units;
      return Math.ceil(left * (1 - ROUNDING));
    }
  }

  final ExpiringMap<Name, Level> levels = new ExpiringMap<>();
  final ExpiringMap<WindowName, Double> windows = new ExpiringMap<>();
  final ExpiringMap<Name, RequestLog> logs = new ExpiringMap<>();

  double count(Name limit, long number, long nowMillis) {
    return windows.get(new WindowName(limit, number), nowMillis).orElse(0.0);
  }

  void setCount(Name limit, long number, double count, double expiresMillis, long nowMillis) {
    WindowName name = new WindowName(limit, number);
    if (count > 0) {
      windows.put(name, count, expiresMillis, nowMillis);
    } else {
      windows.remove(name);
    }
  }

  Carried carried(Name limit, Level from, long now) {
    if (from instanceof BucketLevel bucket) {
      long atMillis = bucket.atMicros / 1000;
      // Its rate is not kept, but how long it was given to live tells it.
      double life = (bucket.expiresMillis - atMillis - MARGIN_MILLIS) * 1000;
      double left = life - Math.max(0, now - bucket.atMicros);
      return new Carried(left > 0 ? bucket.used * (left / life) : 0, 0);
    }
    if (from instanceof LogLevel log) {
      Optional<RequestLog> kept = logs.get(limit, now / 1000);
      return new Carried(
          kept.map(l -> l.unitsAfter(now - log.windowMicros)).orElse(0L), Carried.NEVER);
    }
    WindowLevel window = (WindowLevel) from;
    double used = count(limit, window.number, now / 1000);
    double left = window.endMicros - now;
    if (!window.sliding()) {
      return new Carried(left > 0 ? used : 0, window.endMicros);
    }
    double length = window.lengthMicros;
    if (left > 0) {
      double previous = count(limit, window.number - 1, now / 1000);
      return new Carried(
          used + SlidingWindow.weighted(previous, Math.min(1, left / length)), window.endMicros);
    }
    left += length;
    return new Carried(
        left > 0 ? SlidingWindow.weighted(used, left / length) : 0, window.endMicros);
  }

  /** Drops a level and what it stands for. */
  void drop(Name limit, Level level) {
    if (level instanceof LogLevel) {
      logs.remove(limit);
    } else if (level instanceof WindowLevel window) {
      windows.remove(new WindowName(limit, window.number));
      windows.remove(new WindowName(limit, window.number - 1));
    }
    levels.remove(limit);
  }

  void forget(Name limit, long nowMillis) {
    levels.get(limit, nowMillis).ifPresent(level -> drop(limit, level));
  }
}
