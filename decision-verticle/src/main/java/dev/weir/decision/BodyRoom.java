package dev.weir.decision;

/**
 * Room for the bodies that are being read on one event loop, all together: however many clients
 * send one at once, and however slowly, they do not fill the memory. Owned by that event loop.
 */
final class BodyRoom {

  private long free;

  /**
   * @param bytes of all bodies
   */
  BodyRoom(long bytes) {
    free = bytes;
  }

  /** Whether there is room for {@code bytes} more, which are then taken. */
  boolean take(int bytes) {
    if (bytes > free) {
      return false;
    }
    free -= bytes;
    return true;
  }

  /** What was taken is free again. */
  void giveBack(long bytes) {
    free += bytes;
  }
}
