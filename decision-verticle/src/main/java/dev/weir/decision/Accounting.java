package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.lease.AccountingWindow;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.StoreClock;
import dev.weir.lease.Tally;
import dev.weir.lease.Usage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/**
 * Counts the units of decisions, each once, under the monitor of the key's entry and before the
 * caller is answered.
 *
 * <p>Permits are spent in the accounting window that the store has leased them in, and are counted
 * there; so while a lease is under way all decisions on the key are. Other decisions count in the
 * window that is under way by this node's idea of the store's time.
 */
final class Accounting {

  /** More than a stopped process can need: a tally that was just opened takes counts. */
  private static final int ATTEMPTS = 8;

  private final Usage usage;
  private final StoreClock storeClock;
  private final AccountingWindow windows;
  private final LongAdder uncounted = new LongAdder();

  Accounting(Usage usage, StoreClock storeClock, AccountingWindow windows) {
    this.usage = usage;
    this.storeClock = storeClock;
    this.windows = windows;
  }

  /** The number of the window of {@code key} that is under way, as far as known. */
  int windowNow(String key) {
    return window(key, storeClock.roughMicros());
  }

  /** The number of the window of {@code key} that a moment of the store falls into. */
  int window(String key, long storeMicros) {
    return (int) windows.index(key, storeMicros);
  }

  /** Microseconds from a moment of the store until the window that it falls into is over. */
  long leftMicros(String key, long storeMicros) {
    return windows.untilMicros(key, storeMicros) - storeMicros;
  }

  /** Counts a decision on a request under {@code plan}. */
  void count(PlanLeases leases, BoundPlan plan, Decision decision, long cost) {
    if (cost > 0) {
      noteDemand(plan, decision, cost);
      long now = enterNow(leases);
      count(leases, plan.plan.name(), now, cost, kind(plan, decision, cost));
    }
  }

  /** Counts a decision that the store has made by itself, at a moment of its own. */
  void count(PlanLeases leases, BoundPlan plan, Decision decision, long cost, long storeMicros) {
    noteDemand(plan, decision, cost);
    leases.enter(window(leases.key, storeMicros));
    count(leases, plan.plan.name(), storeMicros, cost, kind(plan, decision, cost));
  }

  /**
   * What the store granted has been noted when it did. What no weight would let through is no
   * demand, and no single request is for more than there is.
   */
  private static void noteDemand(BoundPlan plan, Decision decision, long cost) {
    if (decision instanceof Decision.Denied denied
        ? denied.reason() != Decision.Reason.COST_EXCEEDS_LIMIT
        : decision.degraded()) {
      plan.asked(Math.min(cost, decision.status().policy().quota()));
    }
  }

  private static Predicate<Tally> kind(BoundPlan plan, Decision decision, long cost) {
    if (decision.allowed()) {
      return decision.degraded() ? tally -> tally.degrade(cost) : tally -> tally.spend(cost);
    }
    return plan.plan.shadow() ? tally -> tally.wouldDeny(cost) : tally -> tally.deny(cost);
  }

  /** Counts what is spent of a reservation. */
  void countSettled(PlanLeases leases, String plan, long units) {
    if (units > 0) {
      count(leases, plan, enterNow(leases), units, tally -> tally.spend(units));
    }
  }

  /** Counts what is spent of a reservation of a key that no plan is known of here. */
  void countSettled(String key, String plan, long units) {
    if (units > 0) {
      long now = storeClock.micros();
      for (int i = 0; i < ATTEMPTS; i++) {
        if (usage.open(key, plan, now).spend(units)) {
          return;
        }
      }
      uncounted.add(units);
    }
  }

  /** Takes in what the store has authorized under {@code plan} by granting some of it. */
  void authorized(PlanLeases leases, String plan, Answered answer) {
    int window = window(leases.key, answer.storeMicros());
    if (window < leases.window()) {
      // Nothing is spent any more of what comes so late.
      return;
    }
    leases.enter(window);
    long most = leases.authorized(window);
    boolean granted = false;
    for (Level level : answer.levels()) {
      most = Math.max(most, level.authorized());
      granted |= level.granted() > 0;
    }
    Tally known = leases.tallyOf(plan);
    if (known == null && granted) {
      known = open(leases, plan, answer.storeMicros());
    }
    if (known != null) {
      known.authorized(most);
    }
  }

  /** Units that no tally took. */
  long uncounted() {
    return uncounted.sum();
  }

  private long enterNow(PlanLeases leases) {
    long now = storeClock.micros();
    if (!leases.leased()) {
      int window = window(leases.key, now);
      if (window + 1 == leases.window()) {
        // The store has said itself that it is further on.
        return windows.untilMicros(leases.key, now);
      }
      leases.enter(window);
    }
    return now;
  }

  private void count(
      PlanLeases leases, String plan, long storeMicros, long units, Predicate<Tally> kind) {
    Tally tally = leases.tallyOf(plan);
    for (int i = 0; i < ATTEMPTS; i++) {
      if (tally == null) {
        tally = open(leases, plan, storeMicros);
      }
      if (kind.test(tally)) {
        return;
      }
      tally = null;
    }
    uncounted.add(units);
  }

  private Tally open(PlanLeases leases, String plan, long storeMicros) {
    Tally opened = usage.open(leases.key, plan, storeMicros);
    leases.countBy(plan, opened);
    return opened;
  }
}
