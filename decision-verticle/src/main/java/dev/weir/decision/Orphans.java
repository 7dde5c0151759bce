package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Refills;
import dev.weir.lease.Take;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
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
  private final BlockingQueue<Refill> kept = new LinkedBlockingQueue<>(MOST);
  private final LongAdder forgotten = new LongAdder();

  Orphans(Clock clock, StoreCalls calls) {
    this.clock = clock;
    this.calls = calls;
  }

  /** Sends off what is left of {@code key}, if anything is. */
  void settle(String key, List<Take> takes, long nowMicros) {
    if (!takes.isEmpty()) {
      settle(new Refill(key, takes), nowMicros);
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
    boolean sent = false;
    for (int left = kept.size(); left > 0 && !(onlyOne && sent); left--) {
      Refill refill = kept.poll();
      if (refill != null) {
        settle(refill, nowMicros);
        sent = true;
      }
    }
    return sent;
  }

  boolean isEmpty() {
    return kept.isEmpty();
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
        if (!left.isEmpty() && !kept.offer(new Refill(refill.key(), left))) {
          forgotten.increment();
        }
      }
      calls.landed();
    }

    @Override
    public void onOverdue() {}
  }
}
