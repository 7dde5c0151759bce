package dev.weir.config;

/** The one place that reads the machine's clocks. */
enum SystemClock implements Clock {
  INSTANCE;

  @Override
  public long micros() {
    return System.nanoTime() / 1000;
  }

  @Override
  public long epochMillis() {
    return System.currentTimeMillis();
  }
}
