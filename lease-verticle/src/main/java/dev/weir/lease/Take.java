package dev.weir.lease;

import dev.weir.config.Limit;

/**
 * What one refill does to one limit. The return is applied first, then the charge, both whatever
 * comes of the rest; then at least {@code need} and at most {@code ask} are granted, or nothing.
 *
 * @param limit whose numbers hold
 * @param returned unspent permits that go back, 0 or more
 * @param grantedIn of a windowed limit, the end of the window that the returned permits were
 *     granted in, microseconds of the store's time: they go back to that window alone; else 0
 * @param charged units spent without the store's consent, that it has to know of, 0 or more; may
 *     push the level above the capacity
 * @param need permits without which the refill is of no use; 0 to only look, return or charge
 * @param ask permits wanted, {@code need} or more
 * @param told what the node was last told of the limit
 */
public record Take(
    Limit limit, long returned, long grantedIn, long charged, long need, long ask, Told told) {

  /**
   * @throws IllegalArgumentException if a number is negative or {@code ask < need}
   */
  public Take {
    if (returned < 0 || charged < 0 || need < 0 || ask < need) {
      throw new IllegalArgumentException(
          "returned " + returned + ", charged " + charged + ", need " + need + ", ask " + ask);
    }
  }

  /**
   * What the store last told the node to be used. A store that may have lost data since then starts
   * from it.
   *
   * @param used permits, 0 or more: of a bucket and a log, as of now; of a window, as of the one of
   *     {@code grantedIn}
   * @param epoch in which it was told, see {@link RefillOutcome.Answered}
   */
  public record Told(double used, long epoch) {

    /** Nothing was told. */
    public static final Told NOTHING = new Told(0, StoreEpochs.NONE);
  }

  /** By a node that was told nothing. */
  public Take(Limit limit, long returned, long grantedIn, long charged, long need, long ask) {
    this(limit, returned, grantedIn, charged, need, ask, Told.NOTHING);
  }

  /** Of a limit without windows, or without returns. */
  public Take(Limit limit, long returned, long charged, long need, long ask) {
    this(limit, returned, 0, charged, need, ask);
  }

  /** Looks at the limit and moves nothing. */
  public static Take peek(Limit limit) {
    return new Take(limit, 0, 0, 0, 0);
  }
}
