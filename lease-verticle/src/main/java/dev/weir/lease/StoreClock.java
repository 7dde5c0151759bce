package dev.weir.lease;

import dev.weir.config.Clock;

/**
 * The store's time, told from this process's monotonic clock and the offset that every refill
 * brings. Until the first refill it is this machine's wall clock.
 *
 * <p>Safe to use from any thread; reading takes no lock.
 */
public final class StoreClock {

  /** Differences beyond this are a clock that was set, not a reply that was slow. */
  private static final long JUMP_MICROS = 500_000;

  private static final int SMOOTHING = 8;

  private final Clock clock;
  private volatile long offsetMicros;
  private boolean anchored;

  public StoreClock(Clock clock) {
    this.clock = clock;
    this.offsetMicros = clock.epochMillis() * 1000 - clock.micros();
  }

  /** Takes the store's time of a step whose reply arrives now. */
  synchronized void observe(long storeMicros) {
    long sample = storeMicros - clock.micros();
    long offset = offsetMicros;
    long difference = sample - offset;
    if (!anchored || Math.abs(difference) > JUMP_MICROS) {
      anchored = true;
      offsetMicros = sample;
    } else {
      offsetMicros = offset + difference / SMOOTHING;
    }
  }

  /** The store's time, microseconds of its epoch. */
  public long micros() {
    return clock.micros() + offsetMicros;
  }

  /** The same as of a moment ago, see {@link Clock#roughMicros}. */
  public long roughMicros() {
    return clock.roughMicros() + offsetMicros;
  }

  /** The store's time, milliseconds of its epoch. */
  public long epochMillis() {
    return micros() / 1000;
  }
}
