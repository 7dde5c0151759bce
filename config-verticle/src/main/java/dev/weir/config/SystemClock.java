package dev.weir.config;

/** The one place that reads the machine's clocks. */
enum SystemClock implements Clock {
  INSTANCE;

  @Override
  public long micros() {
    return System.nanoTime() / 1000;
  }

  /** Made when it is first needed. */
  private static final class Rough {
    private static final RoughTime TIME = new RoughTime(INSTANCE::micros);
  }

  @Override
  public long roughMicros() {
    return Rough.TIME.micros();
  }

  @Override
  public long epochMillis() {
    return System.currentTimeMillis();
  }
}
