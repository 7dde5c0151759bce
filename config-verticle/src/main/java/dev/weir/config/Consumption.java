package dev.weir.config;

/**
 * What a store has counted of one limit, true at one moment.
 *
 * @param used permits: a bucket's level; a window's count; what a log holds
 * @param previous of a sliding window, the count of the window before; of a log, the cost that
 *     {@code leftMicros} was told for; else 0
 * @param leftMicros of a window, microseconds until it ends; of a log, until a cost of {@code
 *     previous} fits; 0 for a bucket
 * @param usedCame of a sliding window, when what it counts came
 * @param previousCame of a sliding window, when what the window before counted came
 */
public record Consumption(
    double used, double previous, long leftMicros, Came usedCame, Came previousCame) {

  /** Nothing used. */
  public static final Consumption NONE = new Consumption(0, 0, 0);

  /**
   * When the permits of a window came.
   *
   * @param firstMicros how long ago the first did, microseconds; below 0 if the clock has stepped
   *     back since
   * @param lastMicros how long ago the last did
   */
  public record Came(long firstMicros, long lastMicros) {

    /** Just now, or nothing came. */
    public static final Came NOW = new Came(0, 0);

    /** From the first to the last; not above 0 if they came together. */
    long spanMicros() {
      return firstMicros - lastMicros;
    }
  }

  /** Of an algorithm to which it does not matter when permits came. */
  public Consumption(double used, double previous, long leftMicros) {
    this(used, previous, leftMicros, Came.NOW, Came.NOW);
  }

  /** Of a bucket. */
  public static Consumption ofBucket(double used) {
    return new Consumption(used, 0, 0);
  }
}
