package dev.weir.lease;

import java.util.random.RandomGenerator;

/**
 * How long to wait before the next attempt: doubling from {@value #FIRST_MILLIS} to {@value
 * #LONGEST_MILLIS} milliseconds, of which a random half, so that the nodes of a cluster do not all
 * come back at once. Owned by one thread.
 */
final class Backoff {
  static final long FIRST_MILLIS = 50;
  static final long LONGEST_MILLIS = 2000;

  private final RandomGenerator random;
  private long ceilingMillis = FIRST_MILLIS;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /** Milliseconds to wait before the next attempt. */
  long nextMillis() {
    long millis = ceilingMillis / 2 + random.nextLong(ceilingMillis / 2 + 1);
    ceilingMillis = Math.min(LONGEST_MILLIS, ceilingMillis * 2);
    return millis;
  }

  /** An attempt has proved good. */
  void reset() {
    ceilingMillis = FIRST_MILLIS;
  }
}
