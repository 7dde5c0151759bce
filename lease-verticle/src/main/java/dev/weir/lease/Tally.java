package dev.weir.lease;

/**
 * The units of one key and plan in one accounting window, as far as this node has counted them. A
 * tally is closed some time after its window; it then takes no more counts and says so, and another
 * one has to be opened. Safe to use from any thread; lock-free.
 */
public interface Tally {

  /**
   * Counts units of a decision that allowed, made with the store or by permits of its own.
   *
   * @param units 0 or more
   * @return false if the tally is closed, and nothing was counted
   */
  boolean spend(long units);

  /** Counts units of a decision that allowed without the store, as {@link #spend} does. */
  boolean degrade(long units);

  /** Counts units of a decision that denied, as {@link #spend} does. */
  boolean deny(long units);

  /** Counts units that only the plan's shadow let pass, as {@link #spend} does. */
  boolean wouldDeny(long units);

  /**
   * Takes in what the store has leased out of the plan in this window, to all nodes; the highest
   * number stays. Without effect once closed.
   */
  void authorized(long units);

  /** When the window ends, microseconds of the store's epoch. */
  long untilMicros();
}
