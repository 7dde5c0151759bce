package dev.weir.lease;

/**
 * The units of one key and plan in one accounting window, as far as this node has counted them. A
 * tally is closed some time after its window; it then takes no more counts and says so, and another
 * one has to be opened. Safe to use from any thread; lock-free.
 *
 * @param sheet that it stands on
 * @param place where
 */
public record Tally(TallySheet sheet, int place) {

  /**
   * Counts units of a decision that allowed, made with the store or by permits of its own.
   *
   * @param units 0 or more
   * @return false if the tally is closed, and nothing was counted
   */
  public boolean spend(long units) {
    return sheet.spend(place, units);
  }

  /** Counts units of a decision that allowed without the store, as {@link #spend} does. */
  public boolean degrade(long units) {
    return sheet.degrade(place, units);
  }

  /** Counts units of a decision that denied, as {@link #spend} does. */
  public boolean deny(long units) {
    return sheet.deny(place, units);
  }

  /** Counts units that only the plan's shadow let pass, as {@link #spend} does. */
  public boolean wouldDeny(long units) {
    return sheet.wouldDeny(place, units);
  }

  /**
   * Takes in what the store has leased out of the plan in this window, to all nodes; the highest
   * number stays. Without effect once closed.
   */
  public void authorized(long units) {
    sheet.authorized(place, units);
  }
}
