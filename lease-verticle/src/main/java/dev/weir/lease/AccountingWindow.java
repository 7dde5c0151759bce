package dev.weir.lease;

import java.time.Duration;

/**
 * The period over which authorized units are counted. It starts at another moment for each key, so
 * that not all keys begin a new one at once.
 *
 * @param micros its length, microseconds, a millisecond or more
 */
record AccountingWindow(long micros) {

  /**
   * @throws IllegalArgumentException if shorter than a millisecond
   */
  AccountingWindow {
    if (micros < 1000) {
      throw new IllegalArgumentException("window: must be 1 ms or more, was " + micros + " us");
    }
  }

  static AccountingWindow of(Duration length) {
    return new AccountingWindow(length.toNanos() / 1000);
  }

  /** How long before others the windows of {@code key} begin, 0 to the window's length. */
  long jitterMicros(String key) {
    return Math.floorMod(mix(key.hashCode()), micros);
  }

  /** The window of {@code key} that the store's time {@code storeMicros} falls into. */
  long index(String key, long storeMicros) {
    return Math.floorDiv(storeMicros + jitterMicros(key), micros);
  }

  /** How long a counter is kept: its own window and the next, milliseconds. */
  long counterMillis() {
    return -Math.floorDiv(-micros, 500);
  }

  /**
   * The finalizer of MurmurHash3: {@link String#hashCode} is the same everywhere, but puts keys
   * that differ in their last character next to each other.
   */
  private static long mix(long hash) {
    long h = hash;
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return h ^ (h >>> 33);
  }
}
