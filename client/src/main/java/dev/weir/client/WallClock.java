package dev.weir.client;

/** The time of this process, where there is no store's to be had. */
final class WallClock {

  private WallClock() {}

  /** Milliseconds since 1970. */
  static long epochMillis() {
    return System.currentTimeMillis();
  }
}
