package dev.weir.decision;

import dev.weir.lease.Tally;

/**
 * What a key has besides its permits: most keys have none of it most of the time, and there may be
 * a million of them. Written under the monitor of the key's entry.
 */
final class Aside {

  private static final LimitLease[] NONE = {};

  /** The leases of the plan's limits behind the first. */
  LimitLease[] further = NONE;

  /** The sub-counters of the limits; null unless these are divided. */
  Shards shards;

  /** Who waits for a refill; null while nobody does. */
  volatile Waiters waiters;

  /** The refill under way; null if there is none. */
  InFlight inFlight;

  /** What stands in for the store; null while it is there. */
  Outage outage;

  /** How often the key was forgotten while it was here. */
  int forgets;

  /** Of plans that the key was asked for under and is not bound to, never more than there are. */
  private OfPlan tallies;

  private static final class OfPlan {
    private final String plan;
    private final OfPlan next;
    private Tally tally;

    OfPlan(String plan, Tally tally, OfPlan next) {
      this.plan = plan;
      this.tally = tally;
      this.next = next;
    }
  }

  /** Whether there is nothing of it. */
  boolean isEmpty() {
    return further.length == 0
        && shards == null
        && waiters == null
        && inFlight == null
        && outage == null
        && forgets == 0
        && tallies == null;
  }

  /** No limits behind the first. */
  void noFurther() {
    further = NONE;
  }

  /** Has decisions under {@code plan} counted by {@code opened}. */
  void countBy(String plan, Tally opened) {
    OfPlan known = find(plan);
    if (known == null) {
      tallies = new OfPlan(plan, opened, tallies);
    } else {
      known.tally = opened;
    }
  }

  /** The tally of {@code plan}; null if it has yet to be opened. */
  Tally tallyOf(String plan) {
    OfPlan known = find(plan);
    return known == null ? null : known.tally;
  }

  void closeTallies() {
    tallies = null;
  }

  private OfPlan find(String plan) {
    OfPlan tally = tallies;
    while (tally != null && !tally.plan.equals(plan)) {
      tally = tally.next;
    }
    return tally;
  }
}
