package dev.weir.decision;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of faults of our own, with their stack, at most once a second: a fault that every request
 * meets must not fill the disk. Safe to use from any thread.
 */
final class FaultLog {

  private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);
  private static final long QUIET_MILLIS = 1_000;

  private final LongSupplier epochMillis;
  private final AtomicLong lastMillis = new AtomicLong();
  private final AtomicLong untold = new AtomicLong();

  FaultLog(LongSupplier epochMillis) {
    this.epochMillis = epochMillis;
  }

  void tell(String where, Throwable fault) {
    long now = epochMillis.getAsLong();
    long last = lastMillis.get();
    // The clock may step back, and must not silence us for as long.
    if (Math.abs(now - last) < QUIET_MILLIS || !lastMillis.compareAndSet(last, now)) {
      untold.incrementAndGet();
      return;
    }
    LOG.error(
        "{} failed ({} more faults since the last one told)", where, untold.getAndSet(0), fault);
  }
}
