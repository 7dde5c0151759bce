package dev.weir.decision;

import dev.weir.lease.Tally;

/**
 * Where the decisions on a key are counted: by a tally of the plan that the key is bound to, and
 * one of each other plan that it was asked for under, all of one accounting window.
 *
 * <p>It is also the lease of the first limit, since a million keys would pay for the indirection.
 * Written under the monitor of the {@link KeyEntry}.
 */
class KeyTallies extends LimitLease {

  final String key;

  private volatile Tally tally;

  /** Seldom any, and never more than there are plans; null for none. */
  private OfPlan others;

  private int window;

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

  KeyTallies(String key) {
    this.key = key;
  }

  /** That of the plan that the key is bound to; null if it has yet to be opened. */
  final Tally tally() {
    return tally;
  }

  /** The number of the accounting window that is counted in. */
  final int window() {
    return window;
  }

  /** Has decisions counted in another window from now on. */
  final void countIn(int number) {
    tally = null;
    others = null;
    window = number;
  }

  /** Has decisions under the plan that the key is bound to counted by {@code opened}. */
  final void countBy(Tally opened) {
    tally = opened;
  }

  /** Has decisions under another plan counted by {@code opened}. */
  final void countOther(String plan, Tally opened) {
    OfPlan known = find(plan);
    if (known == null) {
      others = new OfPlan(plan, opened, others);
    } else {
      known.tally = opened;
    }
  }

  /** That of another plan; null if it has yet to be opened. */
  final Tally otherTally(String plan) {
    OfPlan known = find(plan);
    return known == null ? null : known.tally;
  }

  /** The key is bound to {@code plan} instead of {@code former}. */
  final void changePlan(String former, String plan) {
    if (!former.equals(plan)) {
      if (tally != null) {
        countOther(former, tally);
      }
      tally = otherTally(plan);
    }
  }

  private OfPlan find(String plan) {
    OfPlan other = others;
    while (other != null && !other.plan.equals(plan)) {
      other = other.next;
    }
    return other;
  }
}
