package dev.weir.decision;

import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Clock;
import dev.weir.config.Consumption;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.Refills;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Waits for the levels of a key that is looked at, and answers from what the node knows when they
 * are overdue.
 */
final class KeyInspection implements Refills.Listener {
  private final Entries entries;
  private final Clock clock;
  private final String key;
  private final BoundPlan plan;
  private final Consumer<KeyLimits> answer;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final int looks;

  /** Of all counters that have answered, in the order in which they did. Guarded by itself. */
  private final List<Answered> told = new ArrayList<>();

  /**
   * @param looks how many counters of each limit are looked at
   */
  KeyInspection(
      Entries entries,
      Clock clock,
      String key,
      BoundPlan plan,
      int looks,
      Consumer<KeyLimits> answer) {
    this.entries = entries;
    this.clock = clock;
    this.key = key;
    this.plan = plan;
    this.looks = looks;
    this.answer = answer;
  }

  @Override
  public void onOutcome(RefillOutcome outcome) {
    if (outcome instanceof Answered levels) {
      synchronized (told) {
        told.add(levels);
        if (told.size() < looks) {
          return;
        }
      }
      if (!answered.getAndSet(true)) {
        answer.accept(fromStore());
      }
    } else {
      onOverdue();
    }
  }

  @Override
  public void onOverdue() {
    if (!answered.getAndSet(true)) {
      answer.accept(fromMemory());
    }
  }

  private KeyLimits fromStore() {
    List<LimitStatus> statuses = new ArrayList<>();
    KeyEntry entry = entries.get(key);
    for (int i = 0; i < plan.limits.length; i++) {
      Consumption consumption = consumption(i);
      statuses.add(LimitLease.status(plan.limits[i], consumption, unspent(entry, i), 0));
    }
    return new KeyLimits(key, plan.plan, statuses, 0, false);
  }

  private Consumption consumption(int limit) {
    Consumption first = told.get(0).levels().get(limit).consumption();
    if (looks == 1) {
      return first;
    }
    Algorithm algorithm = plan.limits[limit].algorithm();
    double used = 0;
    for (Answered each : told) {
      Consumption consumption = each.levels().get(limit).consumption();
      used += Shards.whole(algorithm.levelAfter(consumption, 0));
    }
    return new Consumption(used, 0, first.leftMicros());
  }

  private long unspent(KeyEntry entry, int limit) {
    if (entry == null) {
      return 0;
    }
    synchronized (entry) {
      return entry.unspent(plan, limit);
    }
  }

  private KeyLimits fromMemory() {
    long now = clock.micros();
    KeyEntry entry = entries.get(key);
    List<LimitStatus> statuses = new ArrayList<>();
    long stale = 0;
    if (entry == null) {
      for (BoundLimit limit : plan.limits) {
        statuses.add(LimitLease.status(limit, Consumption.NONE, 0, 0));
      }
    } else {
      synchronized (entry) {
        for (int i = 0; i < plan.limits.length; i++) {
          statuses.add(entry.knownStatus(plan, i, now));
        }
        stale = entry.staleMillis(now);
      }
    }
    return new KeyLimits(key, plan.plan, statuses, stale, true);
  }
}
