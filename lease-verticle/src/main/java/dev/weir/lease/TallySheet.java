package dev.weir.lease;

/**
 * Many tallies, each at a place of its own, so that who holds one for each of a million keys needs
 * no object for it. What is done at a place is told in {@link Tally}. Safe to use from any thread;
 * lock-free.
 */
public interface TallySheet {

  /**
   * Whether the tally takes counts as yet. Whoever is about to count may ask early, so that the
   * processor fetches the place while there is other work.
   */
  boolean isOpen(int place);

  /** See {@link Tally#spend}. */
  boolean spend(int place, long units);

  /** See {@link Tally#degrade}. */
  boolean degrade(int place, long units);

  /** See {@link Tally#deny}. */
  boolean deny(int place, long units);

  /** See {@link Tally#wouldDeny}. */
  boolean wouldDeny(int place, long units);

  /** See {@link Tally#authorized}. */
  void authorized(int place, long units);
}
