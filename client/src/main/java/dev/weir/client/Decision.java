package dev.weir.client;

import java.util.List;

/**
 * The limiter's answer. When several limits apply, the numbers are those of the limit that denied
 * (the one that clears last), or of the tightest one when allowed.
 *
 * <p>Immutable. Numbers are in cost units (permits), times in milliseconds.
 */
public sealed interface Decision {

  /** Whether the request may go on; if so, its cost has been spent. */
  default boolean allowed() {
    return this instanceof Allowed;
  }

  /** Who asked. */
  String key();

  /** The plan that decided. */
  String plan();

  /** The state of the limit that the numbers of this decision speak of. */
  LimitStatus status();

  /** Every limit that the request had to pass, in the plan's order; at least one. */
  List<LimitStatus> limits();

  /**
   * Milliseconds since the store last told this node the limit's level; 0 when it did so for this
   * very decision.
   */
  long staleMillis();

  /** Whether the store had no part in the decision because it could not be reached in time. */
  boolean degraded();

  /** The capacity of a bucket, the limit of a window. */
  default long limit() {
    return status().policy().quota();
  }

  /** What is left of {@link #limit()} across the whole fleet, as far as this node knows. */
  default long remaining() {
    return status().remaining();
  }

  /** Milliseconds until all of {@link #limit()} is there again, without further traffic. */
  default long resetAfterMillis() {
    return status().resetAfterMillis();
  }

  /** Milliseconds until the same request fits, absent other traffic; 0 when it was allowed. */
  default long retryAfterMillis() {
    return 0;
  }

  /** The request may go on. */
  record Allowed(
      String key,
      String plan,
      LimitStatus status,
      List<LimitStatus> limits,
      long staleMillis,
      boolean degraded)
      implements Decision {}

  /**
   * The request may not go on; nothing was spent.
   *
   * @param retryAfterMillis until the same request fits; {@link #NEVER} when it never will
   */
  record Denied(
      String key,
      String plan,
      LimitStatus status,
      List<LimitStatus> limits,
      long staleMillis,
      boolean degraded,
      Reason reason,
      long retryAfterMillis)
      implements Decision {

    /** The {@code retryAfterMillis} of a request that no waiting helps. */
    public static final long NEVER = Long.MAX_VALUE;
  }

  /** Why a request was denied. */
  enum Reason {
    /** Too little is left; it will fit later. */
    LIMIT("limit"),
    /** The cost is above what the limit can ever hold. */
    COST_EXCEEDS_LIMIT("cost_exceeds_limit"),
    /** The store is away, and the plan is closed for as long: nobody knows what is left. */
    STORE_AWAY("store_away");

    private final String wireName;

    Reason(String wireName) {
      this.wireName = wireName;
    }

    /** The name in JSON. */
    public String wireName() {
      return wireName;
    }
  }
}
