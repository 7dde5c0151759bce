package dev.weir.bench;

import dev.weir.config.Clock;

/** The machine's clocks, of which the one that never steps runs 128 times too slowly. */
enum SlowClock implements Clock {
  INSTANCE;

  private static final int SLOWNESS_BITS = 7;

  @Override
  public long micros() {
    return Clock.system().micros() >> SLOWNESS_BITS;
  }

  @Override
  public long roughMicros() {
    return Clock.system().roughMicros() >> SLOWNESS_BITS;
  }

  @Override
  public long epochMillis() {
    return Clock.system().epochMillis();
  }
}
