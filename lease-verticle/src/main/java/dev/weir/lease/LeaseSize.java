package dev.weir.lease;

/**
 * How many permits a key's next lease asks for, and where its growth turns cautious: slow start,
 * additive increase, multiplicative decrease, as TCP sizes its window (RFC 5681, section 3.1).
 *
 * <p>Immutable; each event makes the next size. Keys share the sizes that most have.
 *
 * @param permits of the next lease, 1 or more
 * @param threshold below which the size doubles and above which it grows by steps, 1 or more
 */
public record LeaseSize(long permits, long threshold) {

  /** Of a key that nothing is known of. */
  public static final LeaseSize INITIAL = new LeaseSize(1, Long.MAX_VALUE);

  /** Sizes that most keys have: powers of two below any threshold, and those at their threshold. */
  private static final LeaseSize[] GROWING = new LeaseSize[Long.SIZE - 1];

  private static final LeaseSize[] HALVED = new LeaseSize[Long.SIZE - 1];

  static {
    for (int i = 0; i < GROWING.length; i++) {
      GROWING[i] = new LeaseSize(1L << i, Long.MAX_VALUE);
      HALVED[i] = new LeaseSize(1L << i, 1L << i);
    }
  }

  /** A full climb from half the ceiling takes this many additive steps. */
  private static final long STEPS_TO_CEILING = 16;

  private static LeaseSize of(long permits, long threshold) {
    int i = Long.numberOfTrailingZeros(permits);
    if (permits == 1L << i && threshold == Long.MAX_VALUE) {
      return GROWING[i];
    }
    return permits == 1L << i && threshold == permits
        ? HALVED[i]
        : new LeaseSize(permits, threshold);
  }

  /** The lease was used up before it expired: the next one is larger, at most {@code ceiling}. */
  public LeaseSize exhausted(long ceiling) {
    long grown =
        permits < threshold
            ? Math.min(permits > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : permits * 2, threshold)
            : permits + Math.max(1, ceiling / STEPS_TO_CEILING);
    long next = Math.max(1, Math.min(grown, ceiling));
    return next == permits ? this : of(next, threshold);
  }

  /** The lease expired with permits unspent, or the store granted less than was asked for. */
  public LeaseSize shrunk() {
    long half = Math.max(1, permits / 2);
    return half == permits && half == threshold ? this : of(half, half);
  }
}
