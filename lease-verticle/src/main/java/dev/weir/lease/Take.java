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
 */
public record Take(Limit limit, long returned, long grantedIn, long charged, long need, long ask) {

  /**
   * @throws IllegalArgumentException if a number is negative or {@code ask < need}
   */
  public Take {
    if (returned < 0 || charged < 0 || need < 0 || ask < need) {
      throw new IllegalArgumentException(
          "returned " + returned + ", charged " + charged + ", need " + need + ", ask " + ask);
    }
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
