package dev.weir.bench;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What came of many requests.
 *
 * @param answered how many were
 * @param nanos from the first request to the last answer
 * @param latencies of each, nanoseconds
 */
record Load(long answered, long nanos, Histogram latencies) {

  /** Enough to tell 1.000 ms from 1.001 ms. */
  private static final int DIGITS = 3;

  static Histogram noLatencies() {
    return new Histogram(DIGITS);
  }

  double perSecond() {
    return answered * (double) TimeUnit.SECONDS.toNanos(1) / nanos;
  }

  /** Milliseconds that {@code percent} of 100 answers took at most. */
  double millis(double percent) {
    return latencies.getValueAtPercentile(percent) / (double) TimeUnit.MILLISECONDS.toNanos(1);
  }
}
