package dev.weir.lease;

/**
 * Lets the windows of each key begin at a moment of its own, so that they do not all roll at once.
 */
final class Jitter {
  private Jitter() {}

  /**
   * How long before others a window of {@code key} begins, microseconds, 0 to less than {@code
   * windowMicros}; the same in every process.
   */
  static long micros(String key, long windowMicros) {
    return Math.floorMod(mix(key.hashCode()), windowMicros);
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
