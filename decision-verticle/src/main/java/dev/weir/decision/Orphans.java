package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Refills;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Returns and charges that no entry holds any more, since their keys do not have the limit any more
 * or were evicted. Those that come to nothing are kept until the store is back. Safe to use from
 * any thread.
 */
final class Orphans {

  /** Steps kept while the store is away; more are counted and dropped. */
  static final int MOST = 10_000;

  private final Clock clock;
  private final StoreCalls calls;
  private final LongAdder forgotten = new LongAdder();

  /** The longest kept first. Guarded by itself. */
  private final Map<String, List<Refill>> kept = new LinkedHashMap<>();

  /** Of all keys; written where {@code kept} is locked. */
  private volatile int keptCount;

  Orphans(Clock clock, StoreCalls calls) {
    this.clock = clock;
    this.calls = calls;
  }

  /** Sends off what is left of {@code key}, if anything is. */
  void settle(String key, List<Take> takes, long nowMicros) {
    if (!takes.isEmpty()) {
      Takes.steps(key, takes).forEach(step -> settle(step, nowMicros));
    }
  }

  private void settle(Refill refill, long nowMicros) {
    calls.submit(refill, nowMicros, new Farewell(refill));
  }

  /**
   * Sends off again what came to nothing.
   *
   * @return whether there was any such
   */
  boolean settleKept(boolean onlyOne, long nowMicros) {
    int sent = 0;
    for (int left = onlyOne ? Math.min(1, keptCount) : keptCount; left > 0; left--) {
      Refill refill = poll();
      if (refill == null) {
        break;
      }
      settle(refill, nowMicros);
      sent++;
    }
    return sent > 0;
  }

  private Refill poll() {
    synchronized (kept) {
      if (kept.isEmpty()) {
        return null;
      }
      String key = kept.keySet().iterator().next();
      List<Refill> ofKey = kept.get(key);
      Refill refill = ofKey.remove(0);
      keptCount--;
      if (ofKey.isEmpty()) {
        kept.remove(key);
      }
      return refill;
    }
  }

  private void keep(Refill refill) {
    synchronized (kept) {
      if (keptCount < MOST) {
        kept.computeIfAbsent(refill.key(), key -> new ArrayList<>(1)).add(refill);
        keptCount++;
      } else {
        forgotten.increment();
      }
    }
  }

  /** Takes back what is kept of {@code key}, since it has an entry again. */
  List<Take> reclaim(String key) {
    if (keptCount == 0) {
      return List.of();
    }
    synchronized (kept) {
      List<Refill> ofKey = kept.remove(key);
      if (ofKey == null) {
        return List.of();
      }
      keptCount -= ofKey.size();
      return ofKey.stream().flatMap(refill -> refill.takes().stream()).toList();
    }
  }

  boolean isEmpty() {
    return keptCount == 0;
  }

  /** Steps that the store should have heard of and never will. */
  long forgottenCount() {
    return forgotten.sum();
  }

  private final class Farewell implements Refills.Listener {
    private final Refill refill;

    Farewell(Refill refill) {
      this.refill = refill;
    }

    @Override
    public void onOutcome(RefillOutcome outcome) {
      calls.heard(outcome, clock.micros());
      if (outcome instanceof Unavailable unavailable) {
        List<Take> left =
            refill.takes().stream()
                .flatMap(take -> Takes.unsettled(take, unavailable.unsent()).stream())
                .toList();
        if (!left.isEmpty()) {
          keep(new Refill(refill.key(), left));
        }
      }
      calls.landed();
    }

    @Override
    public void onOverdue() {}
  }
}
