package dev.weir.config;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Tells a time that a thread of its own looks at every millisecond, so that asking for it costs a
 * look at a field: reading the machine's clock takes longer than a decision on a key that is in the
 * cache, and does not let the processor begin with the next one meanwhile. The thread rests while
 * nobody asks. Safe to use from any thread.
 */
final class RoughTime {

  private static final long TICK_NANOS = 1_000_000;

  /** After this many ticks in which nobody has asked it rests. */
  private static final int PATIENCE_TICKS = 1_000;

  private static final long RESTS = Long.MIN_VALUE;

  private final LongSupplier exact;
  private final Thread thread;

  private volatile long told = RESTS;

  /** Whether somebody has asked of late. A race of asker and thread costs a rest, and no time. */
  private boolean asked;

  /**
   * @param exact the time, which never steps back
   */
  RoughTime(LongSupplier exact) {
    this.exact = exact;
    this.thread = new Thread(this::run, "weir-clock");
    thread.setDaemon(true);
    thread.start();
  }

  /** The time as of a moment ago: a millisecond, or as long as the thread has to wait its turn. */
  long micros() {
    long now = told;
    if (now == RESTS) {
      LockSupport.unpark(thread);
      return exact.getAsLong();
    }
    if (!asked) {
      asked = true;
    }
    return now;
  }

  private void run() {
    int unasked = 0;
    while (true) {
      unasked = asked ? 0 : unasked + 1;
      asked = false;
      if (unasked < PATIENCE_TICKS) {
        told = exact.getAsLong();
        LockSupport.parkNanos(this, TICK_NANOS);
      } else {
        told = RESTS;
        LockSupport.park(this);
        unasked = 0;
      }
    }
  }
}
