package dev.weir.lease;

/**
 * How many permits a key's next lease asks for, and where its growth turns cautious: slow start,
 * additive increase, multiplicative decrease, as TCP sizes its window (RFC 5681, section 3.1).
 *
 * <p>Immutable; each event makes the next size. Idle keys share {@link #INITIAL}.
 *
 * @param permits of the next lease, 1 or more
 * @param threshold below which the size doubles and above which it grows by steps, 1 or more
 */
public record LeaseSize(long permits, long threshold) {

  /** Of a key that nothing is known of. */
  public static final LeaseSize INITIAL = new LeaseSize(1, Long.MAX_VALUE);

  /** A full climb from half the ceiling takes this many additive steps. */
  private static final long STEPS_TO_CEILING = 16;

  /** The lease was used up before it expired: the next one is larger, at most {@code ceiling}. */
  public LeaseSize exhausted(long ceiling) {
    long grown =
        permits < threshold
            ? Math.min(permits > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : permits * 2, threshold)
            : permits + Math.max(1, ceiling / STEPS_TO_CEILING);
    long next = Math.max(1, Math.min(grown, ceiling));
    return next == permits ? this : new LeaseSize(next, threshold);
  }

  /** The lease expired with permits unspent, or the store granted less than was asked for. */
  public LeaseSize shrunk() {
    long half = Math.max(1, permits / 2);
    return half == permits && half == threshold ? this : new LeaseSize(half, half);
  }
}
