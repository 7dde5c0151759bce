package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jctools.queues.MpscArrayQueue;

/**
 * Gathers the refills of all event loops and watches over their deadlines.
 *
 * <p>Any thread puts refills into a bounded queue; the lease verticle's context, its single owner
 * on the other side, takes all that is there and hands it to the store as one batch. A refill is
 * <em>overdue</em> when its deadline passes first. It then stays in flight, because its grant
 * counts even when nobody waits for it any more.
 *
 * <p>Life of a refill: queued -> in flight -> outcome, with at most one overdue notice before the
 * outcome. A refill that is overdue before it was sent is not sent.
 */
final class RefillQueue implements Refills {

  /**
   * More refills than this waiting for one turn of an event loop means that the loop is stalled;
   * what comes on top is answered without the store.
   */
  static final int CAPACITY = 1 << 16;

  private final Store store;
  private final Clock clock;
  private final StoreClock storeClock;
  private final long timeoutMicros;
  private final Consumer<Runnable> context;
  private final MpscArrayQueue<Pending> intake = new MpscArrayQueue<>(CAPACITY);
  private final AtomicBoolean drainScheduled = new AtomicBoolean();
  private final PriorityQueue<Pending> deadlines =
      new PriorityQueue<>(Comparator.comparingLong(pending -> pending.deadlineMicros));
  private final RefillMeters meters;

  /**
   * @param context runs a task on the lease verticle's context
   */
  RefillQueue(
      Store store,
      Clock clock,
      StoreClock storeClock,
      long timeoutMicros,
      Consumer<Runnable> context,
      RefillMeters meters) {
    this.store = store;
    this.clock = clock;
    this.storeClock = storeClock;
    this.timeoutMicros = timeoutMicros;
    this.context = context;
    this.meters = meters;
  }

  @Override
  public void submit(Refill refill, long wantedAtMicros, Listener listener) {
    Pending pending = new Pending(refill, wantedAtMicros, wantedAtMicros + timeoutMicros, listener);
    if (!intake.offer(pending)) {
      meters.unavailable();
      listener.onOutcome(new RefillOutcome.Unavailable("the refill queue is full", true));
      return;
    }
    if (drainScheduled.compareAndSet(false, true)) {
      context.accept(this::drain);
    }
  }

  /** Sends what has gathered. On the lease verticle's context. */
  private void drain() {
    // Cleared first: a refill offered from here on schedules the next drain.
    drainScheduled.set(false);
    long now = clock.micros();
    List<Pending> batch = new ArrayList<>();
    List<Refill> refills = new ArrayList<>();
    // What arrives meanwhile has scheduled a drain of its own, so one capacity's worth suffices.
    for (int i = 0; i < CAPACITY; i++) {
      Pending pending = intake.poll();
      if (pending == null) {
        break;
      }
      if (pending.deadlineMicros <= now) {
        meters.overdue();
        pending.listener.onOutcome(new RefillOutcome.Unavailable("overdue before sending", true));
      } else {
        batch.add(pending);
        refills.add(pending.refill);
      }
    }
    if (batch.isEmpty()) {
      return;
    }
    List<Future<RefillOutcome>> outcomes = store.refill(refills);
    for (int i = 0; i < batch.size(); i++) {
      Pending pending = batch.get(i);
      outcomes.get(i).onSuccess(outcome -> complete(pending, outcome));
      if (!pending.done) {
        deadlines.add(pending);
      }
    }
  }

  private void complete(Pending pending, RefillOutcome outcome) {
    pending.done = true;
    if (outcome instanceof RefillOutcome.Answered answered) {
      storeClock.observe(answered.storeMicros());
    } else if (outcome instanceof RefillOutcome.Unavailable) {
      meters.unavailable();
    }
    meters.took(clock.micros() - pending.wantedAtMicros);
    pending.listener.onOutcome(outcome);
  }

  /**
   * Gives notice of every refill whose deadline has passed. On the lease verticle's context.
   *
   * @return whether a deadline is still ahead
   */
  boolean expire() {
    long now = clock.micros();
    Pending next = deadlines.peek();
    while (next != null && (next.done || next.deadlineMicros <= now)) {
      deadlines.poll();
      if (!next.done) {
        meters.overdue();
        next.listener.onOverdue();
      }
      next = deadlines.peek();
    }
    return next != null;
  }

  private static final class Pending {
    final Refill refill;
    final long wantedAtMicros;
    final long deadlineMicros;
    final Listener listener;
    boolean done;

    Pending(Refill refill, long wantedAtMicros, long deadlineMicros, Listener listener) {
      this.refill = refill;
      this.wantedAtMicros = wantedAtMicros;
      this.deadlineMicros = deadlineMicros;
      this.listener = listener;
    }
  }
}
