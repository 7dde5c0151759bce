package dev.weir.decision;

import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Refills;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The refills of a node that are under way, and what their outcomes tell of the store. Safe to use
 * from any thread.
 */
final class StoreCalls {

  private final Refills refills;
  private final StoreAbsence absence;
  private final AtomicInteger underWay = new AtomicInteger();

  /**
   * How long nodes may be apart in finding that the store is back, microseconds at most: the
   * longest pause between two attempts to connect, or two probes.
   */
  static final long APART_MICROS = 2_000_000;

  /** Whether the last refill came back without an answer. */
  private volatile boolean away;

  /** When the first refill and the last came back without an answer, of a time without pause. */
  private volatile Span failing = new Span(Long.MIN_VALUE / 2, Long.MIN_VALUE / 2);

  private record Span(long firstMicros, long lastMicros) {}

  /**
   * @param decidedWithout decisions made without the store so far
   */
  StoreCalls(Refills refills, LongSupplier decidedWithout) {
    this.refills = refills;
    this.absence = new StoreAbsence(decidedWithout);
  }

  /** Hands a refill in; its listener has to tell when it has {@link #landed}. */
  void submit(Refill refill, long wantedAtMicros, Refills.Listener listener) {
    underWay.incrementAndGet();
    refills.submit(refill, wantedAtMicros, listener);
  }

  /** Hands in what only looks, and that nobody has to wait for when the node stops. */
  void look(Refill refill, long wantedAtMicros, Refills.Listener listener) {
    refills.submit(refill, wantedAtMicros, listener);
  }

  void heard(RefillOutcome outcome, long nowMicros) {
    if (outcome instanceof Unavailable unavailable) {
      away = true;
      failed(nowMicros);
      absence.failed(unavailable.reason(), nowMicros);
    } else {
      away = false;
      absence.answered(nowMicros);
    }
  }

  private synchronized void failed(long nowMicros) {
    boolean goesOn = nowMicros - failing.lastMicros <= APART_MICROS;
    failing = new Span(goesOn ? failing.firstMicros : nowMicros, nowMicros);
  }

  /**
   * How long it may take until other nodes find that the store is back, which this one has just
   * found, and have told it what they have spent, microseconds. They try in ever longer pauses, so
   * not for much longer than it was away.
   */
  long restMicros(long nowMicros) {
    Span last = failing;
    if (nowMicros - last.lastMicros > APART_MICROS) {
      return 0;
    }
    long apart = Math.min(APART_MICROS, last.lastMicros - last.firstMicros);
    return apart + apart / 4;
  }

  void overdue(long nowMicros) {
    absence.failed("no answer in time", nowMicros);
  }

  /** All that a refill's outcome entails is done, or under way itself. */
  void landed() {
    underWay.decrementAndGet();
  }

  boolean noneUnderWay() {
    return underWay.get() == 0;
  }

  /** Whether the last refill came back without an answer. */
  boolean away() {
    return away;
  }

  /** To be called now and then: see {@link StoreAbsence#look}. */
  void lookForEnd(long nowMicros) {
    absence.look(nowMicros);
  }

  /** Whether some keys, at least, have to be decided without the store. */
  boolean degraded() {
    return absence.lasting();
  }
}
