package dev.weir.decision;

import dev.weir.lease.Tally;
import dev.weir.lease.TallySheet;

/**
 * Where the decisions on a key are counted: by a tally of the plan that the key is bound to, and
 * one of each other plan that it was asked for under, all of one accounting window.
 *
 * <p>It is also the lease of the first limit, since a million keys would pay for the indirection.
 * Written under the monitor of the {@link KeyEntry}, where its stamp tells so.
 */
abstract class KeyTallies extends LimitLease {

  final String key;

  /** Null while nothing is. */
  private volatile Aside aside;

  /** Of the tally of the plan that the key is bound to; null if it has yet to be opened. */
  private TallySheet sheet;

  private int place;
  private int window;

  KeyTallies(String key) {
    this.key = key;
  }

  /** What the key has besides; null if there is nothing. */
  final Aside aside() {
    return aside;
  }

  /** The same, made if there is nothing. */
  final Aside makeAside() {
    Aside made = aside;
    if (made == null) {
      made = new Aside();
      aside = made;
    }
    return made;
  }

  /** Lets go of what is empty. */
  final void tidyAside() {
    if (aside != null && aside.isEmpty()) {
      aside = null;
    }
  }

  /** That of the plan that the key is bound to; null if it has yet to be opened. */
  final Tally tally() {
    return sheet == null ? null : new Tally(sheet, place);
  }

  /** The sheet that {@link #tally} stands on, or null. */
  final TallySheet sheet() {
    return sheet;
  }

  /** Where on the {@link #sheet} it stands. */
  final int place() {
    return place;
  }

  /** The number of the accounting window that is counted in. */
  final int window() {
    return window;
  }

  /** Has decisions counted in another window from now on. */
  final void countIn(int number) {
    sheet = null;
    if (aside != null) {
      aside.closeTallies();
      tidyAside();
    }
    window = number;
  }

  /** Has decisions under the plan that the key is bound to counted by {@code opened}. */
  final void countBy(Tally opened) {
    sheet = opened.sheet();
    place = opened.place();
  }

  /** Has decisions under another plan counted by {@code opened}. */
  final void countOther(String plan, Tally opened) {
    makeAside().countBy(plan, opened);
  }

  /** That of another plan; null if it has yet to be opened. */
  final Tally otherTally(String plan) {
    return aside == null ? null : aside.tallyOf(plan);
  }

  /** The key is bound to {@code plan} instead of {@code former}. */
  final void changePlan(String former, String plan) {
    if (!former.equals(plan)) {
      if (sheet != null) {
        countOther(former, tally());
      }
      Tally known = otherTally(plan);
      sheet = null;
      if (known != null) {
        countBy(known);
      }
    }
  }
}
