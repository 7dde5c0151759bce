package dev.weir.lease;

import java.time.Duration;

/**
 * The period over which authorized units are counted. It starts at another moment for each key, so
 * that not all keys begin a new one at once.
 *
 * @param micros its length, microseconds, a millisecond or more
 */
public record AccountingWindow(long micros) {

  /**
   * @throws IllegalArgumentException if shorter than a millisecond
   */
  public AccountingWindow {
    if (micros < 1000) {
      throw new IllegalArgumentException("window: must be 1 ms or more, was " + micros + " us");
    }
  }

  /**
   * A window of that length, to the microsecond.
   *
   * @throws IllegalArgumentException if shorter than a millisecond
   */
  public static AccountingWindow of(Duration length) {
    return new AccountingWindow(length.toNanos() / 1000);
  }

  /** How long before others the windows of {@code key} begin, 0 to the window's length. */
  long jitterMicros(String key) {
    return Jitter.micros(key, micros);
  }

  /** The window of {@code key} that the store's time {@code storeMicros} falls into. */
  public long index(String key, long storeMicros) {
    return Math.floorDiv(storeMicros + jitterMicros(key), micros);
  }

  /** When that window is over, microseconds of the store's time. */
  public long untilMicros(String key, long storeMicros) {
    return (index(key, storeMicros) + 1) * micros - jitterMicros(key);
  }

  /** How long is known what is authorized: its own window and the next, milliseconds. */
  long counterMillis() {
    return -Math.floorDiv(-micros, 500);
  }
}
