package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import dev.weir.config.Clock;
import java.util.concurrent.atomic.LongAdder;

/** The decisions of a node, counted by what they are. Safe to use from any thread. */
final class DecisionCounts {

  private final Clock clock;
  private final HotKeys hotKeys;
  private final LongAdder allowed = new LongAdder();
  private final LongAdder denied = new LongAdder();
  private final LongAdder degradedAllowed = new LongAdder();
  private final LongAdder degradedDenied = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder wouldDeny = new LongAdder();

  DecisionCounts(Clock clock, HotKeys hotKeys) {
    this.clock = clock;
    this.hotKeys = hotKeys;
  }

  /** What the caller gets under {@code plan}, counted. */
  Decision conclude(BoundPlan plan, Decision decision) {
    if (decision.allowed()) {
      return count(decision);
    }
    Decision told = plan.told(decision);
    if (told.allowed()) {
      wouldDeny.increment();
    } else {
      hotKeys.denied(decision.key(), clock.micros());
    }
    return count(told);
  }

  /** Counts what the caller gets. */
  Decision count(Decision decision) {
    if (decision.allowed()) {
      (decision.degraded() ? degradedAllowed : allowed).increment();
    } else if (decision instanceof Denied noted && noted.reason() == Reason.STORE_AWAY) {
      refused.increment();
    } else {
      (decision.degraded() ? degradedDenied : denied).increment();
    }
    return decision;
  }

  long allowedCount() {
    return allowed.sum();
  }

  long deniedCount() {
    return denied.sum();
  }

  long degradedAllowedCount() {
    return degradedAllowed.sum();
  }

  long degradedDeniedCount() {
    return degradedDenied.sum();
  }

  /** Requests refused since the store was away and their plan closed. */
  long refusedCount() {
    return refused.sum();
  }

  /** Decisions made without the store. */
  long degradedCount() {
    return degradedAllowed.sum() + degradedDenied.sum() + refused.sum();
  }

  /** Requests allowed by a shadow plan that would have been denied without it. */
  long wouldDenyCount() {
    return wouldDeny.sum();
  }
}
