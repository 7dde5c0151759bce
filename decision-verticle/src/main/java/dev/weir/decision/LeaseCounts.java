package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.Take;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/** The permits that the store has granted to a node, counted. Safe to use from any thread. */
final class LeaseCounts {

  private final Clock clock;
  private final HotKeys hotKeys;
  private final LongAdder leased = new LongAdder();
  private volatile LongConsumer sizes = granted -> {};

  LeaseCounts(Clock clock, HotKeys hotKeys) {
    this.clock = clock;
    this.hotKeys = hotKeys;
  }

  /** Notes what {@code takes} came to. */
  void taken(String key, BoundPlan plan, List<Take> takes, Answered answer) {
    long most = 0;
    long mostGranted = 0;
    for (int i = 0; i < takes.size(); i++) {
      long granted = answer.levels().get(i).granted();
      if (granted > 0) {
        leased.add(granted);
        sizes.accept(granted);
      }
      most = Math.max(most, granted + takes.get(i).charged());
      mostGranted = Math.max(mostGranted, granted);
    }
    if (mostGranted > 0) {
      plan.asked(mostGranted);
    }
    hotKeys.taken(key, most, clock.micros());
  }

  /** Notes permits that are no lease. */
  void taken(String key, BoundPlan plan, long permits) {
    plan.asked(permits);
    hotKeys.taken(key, permits, clock.micros());
  }

  /** Permits leased so far. */
  long leasedCount() {
    return leased.sum();
  }

  /** Tells {@code consumer} of every lease from now on, permits. */
  void onLease(LongConsumer consumer) {
    sizes = consumer;
  }
}
