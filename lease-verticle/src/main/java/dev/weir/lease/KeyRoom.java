package dev.weir.lease;

/**
 * How much of what callers name a node remembers, so that no number of keys, nor their length,
 * fills its heap. The figures are of 64-bit JVMs with compressed pointers, measured and rounded up;
 * half of the heap is left to all else.
 *
 * <p>All are in <em>places</em>, one for each key of up to {@value #PLACE_CHARS} characters; a
 * longer one takes {@linkplain #places more}.
 *
 * @param keys that a node decides on by what it holds of them, 1 or more
 * @param levels that the embedded store keeps, 1 or more: what it knows of a key and limit
 * @param recent of all else that is remembered of keys for a while, of each kind, 1 or more:
 *     outcomes by the ids of requests, reservations, windows of usage to look at
 */
public record KeyRoom(int keys, int levels, int recent) {

  /** Characters of a key that takes one place. */
  static final int PLACE_CHARS = 128;

  /** Bytes of a key that a node holds, by the place. */
  private static final long KEY_BYTES = 384;

  /** Bytes of a level, and of the units authorized with it, by the place. */
  private static final long LEVEL_BYTES = 512;

  /** Bytes of anything else, by the place. */
  private static final long RECENT_BYTES = 768;

  private static final int MOST_RECENT = 100_000;

  /**
   * @throws IllegalArgumentException if a number is below 1
   */
  public KeyRoom {
    if (keys < 1 || levels < 1 || recent < 1) {
      throw new IllegalArgumentException(
          "keys " + keys + ", levels " + levels + ", recent " + recent);
    }
  }

  /**
   * The room in a heap.
   *
   * @param maxKeys most keys to be held, 1 or more
   * @param heapBytes that the JVM will use at most
   * @param embedded whether the heap has the store as well
   */
  public static KeyRoom in(long heapBytes, int maxKeys, boolean embedded) {
    long half = heapBytes / 2;
    return new KeyRoom(
        places(embedded ? half / 2 : half, KEY_BYTES, maxKeys),
        places(half / 2, LEVEL_BYTES, Integer.MAX_VALUE),
        places(half / 8, RECENT_BYTES, MOST_RECENT));
  }

  private static int places(long bytes, long bytesEach, int most) {
    return (int) Math.max(1, Math.min(most, bytes / bytesEach));
  }

  /** How many places something takes that is remembered by {@code text}. */
  public static int places(String text) {
    return 1 + text.length() / PLACE_CHARS;
  }
}
