package dev.weir.lease;

import dev.weir.config.Clock;
import java.time.Duration;

/** Time that passes, or steps back, when a test says so. Not thread-safe. */
public final class VirtualClock implements Clock {

  private static final long START_EPOCH_MILLIS = 1_700_000_000_000L;

  private long micros;
  private long reads;
  private long readToWait = -1;
  private Runnable waiting = () -> {};

  public void advance(Duration time) {
    micros += time.toNanos() / 1000;
  }

  void advanceMicros(long by) {
    micros += by;
  }

  /** Has {@code event} happen once, just as time is told for the {@code read}th time from now. */
  public void atRead(int read, Runnable event) {
    readToWait = reads + read;
    waiting = event;
  }

  /** Microseconds since the epoch. */
  long epochMicros() {
    return START_EPOCH_MILLIS * 1000 + micros;
  }

  @Override
  public long micros() {
    reads++;
    if (reads == readToWait) {
      waiting.run();
    }
    return micros;
  }

  @Override
  public long epochMillis() {
    return START_EPOCH_MILLIS + Math.floorDiv(micros, 1000);
  }
}
