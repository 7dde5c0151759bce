package dev.weir.lease;

import dev.weir.config.Clock;
import java.time.Duration;

/** Time that passes, or steps back, when a test says so. Not thread-safe. */
public final class VirtualClock implements Clock {

  private static final long START_EPOCH_MILLIS = 1_700_000_000_000L;

  private long micros;

  public void advance(Duration time) {
    micros += time.toNanos() / 1000;
  }

  void advanceMicros(long by) {
    micros += by;
  }

  /** Microseconds since the epoch. */
  long epochMicros() {
    return START_EPOCH_MILLIS * 1000 + micros;
  }

  @Override
  public long micros() {
    return micros;
  }

  @Override
  public long epochMillis() {
    return START_EPOCH_MILLIS + Math.floorDiv(micros, 1000);
  }
}
