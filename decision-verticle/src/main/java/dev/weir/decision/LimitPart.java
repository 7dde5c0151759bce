package dev.weir.decision;

/**
 * What a node knows of one sub-counter of a limit. Permits are held, and owed, of the limit as a
 * whole. Belongs to {@link Shards}.
 */
final class LimitPart extends LimitLease {

  private static final long NEVER = Long.MIN_VALUE;

  private final BoundLimit limit;

  /** When the node asked for what it was last told. */
  private long askedMicros = NEVER;

  /**
   * Permits that were granted here, and are held if no others have been spent: they may go back.
   */
  private long taken;

  /** Granted to all nodes in the accounting window {@code authorizedIn}. */
  private long authorized;

  private int authorizedIn;

  LimitPart(BoundLimit limit) {
    this.limit = limit;
  }

  @Override
  BoundLimit limit() {
    return limit;
  }

  /** Whether it was asked at {@code sinceMicros} or later. */
  boolean askedSince(long sinceMicros) {
    return known() && askedMicros >= sinceMicros;
  }

  void asked(long atMicros) {
    askedMicros = atMicros;
  }

  /** Notes what all nodes were granted in a window. */
  void authorized(int window, long units) {
    authorized = window == authorizedIn ? Math.max(authorized, units) : units;
    authorizedIn = window;
  }

  long authorized(int window) {
    return window == authorizedIn ? authorized : 0;
  }

  /** Whole permits that it had left by the store's last word. */
  long room() {
    return Math.max(0, limit.quota() - Shards.whole(lastCounted()));
  }

  /** Notes permits that are held of it. */
  void granted(long permits) {
    taken += permits;
  }

  /** What of {@code owed} may go back here. */
  long returnable(long owed) {
    return Math.max(0, Math.min(owed, taken));
  }

  /** Has as much of {@code owed} go back here as may. */
  long giveBackOf(long owed) {
    long back = returnable(owed);
    taken -= back;
    return back;
  }

  /** Nothing is held of it any more. */
  void release() {
    taken = 0;
  }

  /** Goes on from what is known of the same sub-counter under other numbers. */
  void goOnFrom(LimitPart former) {
    succeed(former);
    askedMicros = former.askedMicros;
    taken = former.taken;
    authorized = former.authorized;
    authorizedIn = former.authorizedIn;
  }
}
