package dev.weir.lease;

/**
 * Units of requests of one key and plan in one window.
 *
 * @param spent units of requests that were allowed, degraded ones included, 0 or more
 * @param degraded those of them that were decided without the store
 * @param denied units of requests that were not allowed
 * @param wouldDeny units that a shadow plan allowed although its limit was spent; not in {@code
 *     spent}
 * @param authorized units that the store had leased out in the window, as far as it was told
 */
public record UsageCounts(long spent, long degraded, long denied, long wouldDeny, long authorized) {

  public static final UsageCounts NONE = new UsageCounts(0, 0, 0, 0, 0);

  /**
   * @throws IllegalArgumentException if one is negative
   */
  public UsageCounts {
    if ((spent | degraded | denied | wouldDeny | authorized) < 0) {
      throw new IllegalArgumentException(
          "counts: must be 0 or more, were "
              + spent
              + ", "
              + degraded
              + ", "
              + denied
              + ", "
              + wouldDeny
              + ", "
              + authorized);
    }
  }

  /** Both together; {@code authorized}, which all are told of the same counter, is the higher. */
  public UsageCounts plus(UsageCounts other) {
    return new UsageCounts(
        spent + other.spent,
        degraded + other.degraded,
        denied + other.denied,
        wouldDeny + other.wouldDeny,
        Math.max(authorized, other.authorized));
  }

  /** What came on top of {@code earlier}; {@code authorized}, which is no sum, as it is now. */
  UsageCounts since(UsageCounts earlier) {
    return new UsageCounts(
        Math.max(0, spent - earlier.spent),
        Math.max(0, degraded - earlier.degraded),
        Math.max(0, denied - earlier.denied),
        Math.max(0, wouldDeny - earlier.wouldDeny),
        authorized);
  }
}
