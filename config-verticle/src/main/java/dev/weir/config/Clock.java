package dev.weir.config;

/** Where time comes from. Safe to use from any thread. */
public interface Clock {

  /** Microseconds since an arbitrary moment; never steps back. */
  long micros();

  /**
   * The same time as {@link #micros}, some milliseconds late at most as long as this process is
   * given processor time, where that is cheaper.
   */
  default long roughMicros() {
    return micros();
  }

  /** Milliseconds since the epoch, by this machine's wall clock; may step. */
  long epochMillis();

  /** The machine's clocks. */
  static Clock system() {
    return SystemClock.INSTANCE;
  }
}
