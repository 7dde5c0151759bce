package dev.weir.lease;

import dev.weir.config.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when a test says so, and steps back when it says so. */
final class VirtualTime implements Clock {
  static final long START_MICROS = 1_700_000_000_000_000L;

  private final AtomicLong micros = new AtomicLong(START_MICROS);

  @Override
  public long micros() {
    return micros.get();
  }

  @Override
  public long epochMillis() {
    return micros.get() / 1000;
  }

  void advance(Duration duration) {
    advanceMicros(duration.toNanos() / 1000);
  }

  void advanceMicros(long by) {
    micros.addAndGet(by);
  }
}
