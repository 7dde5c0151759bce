package dev.weir.decision;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Room for the bodies that are being read on one event loop, all together: however many clients
 * send one at once, and however slowly, they do not fill the memory. Owned by that event loop.
 *
 * <p>None keeps its room for long. A connection whose client does not get on is cut, but over
 * HTTP/2 it may get on with other requests meanwhile, so each body has its time here. As with
 * connections, time is looked at a few times in its course, and none has a timer of its own.
 */
final class BodyRoom {

  /** Looks at the time that a body has; the last comes a quarter late at most. */
  static final int LOOKS = 4;

  /** The look before each of them began, the oldest first. */
  private final Map<RequestBody, Long> begun = new LinkedHashMap<>();

  private long free;
  private long looks;

  /**
   * @param bytes of all bodies
   */
  BodyRoom(long bytes) {
    free = bytes;
  }

  /** Whether there is room for {@code bytes} more of {@code body}, which are then taken. */
  boolean take(RequestBody body, int bytes) {
    if (bytes > free) {
      return false;
    }
    free -= bytes;
    begun.putIfAbsent(body, looks);
    return true;
  }

  /** What {@code body} has taken is free again, and it takes no more. */
  void leave(RequestBody body, long bytes) {
    free += bytes;
    begun.remove(body);
  }

  /** Gives up bodies whose time is over; to be called {@link #LOOKS} times in it. */
  void look() {
    looks++;
    while (!begun.isEmpty()) {
      Map.Entry<RequestBody, Long> oldest = begun.entrySet().iterator().next();
      if (looks - oldest.getValue() <= LOOKS) {
        return;
      }
      // Which leaves.
      oldest.getKey().giveUp();
    }
  }
}
