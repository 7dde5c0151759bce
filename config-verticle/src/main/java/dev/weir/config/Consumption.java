package dev.weir.config;

/**
 * What a store has counted of one limit, true at one moment.
 *
 * @param used permits: a bucket's level; a window's count; what a log holds
 * @param previous of a sliding window, the count of the window before; of a log, the cost that
 *     {@code leftMicros} was told for; else 0
 * @param leftMicros of a window, microseconds until it ends; of a log, until a cost of {@code
 *     previous} fits; 0 for a bucket
 */
public record Consumption(double used, double previous, long leftMicros) {

  /** Nothing used. */
  public static final Consumption NONE = new Consumption(0, 0, 0);

  /** Of a bucket. */
  public static Consumption ofBucket(double used) {
    return new Consumption(used, 0, 0);
  }
}
