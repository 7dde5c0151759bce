package dev.weir.config;

/**
 * How a limit counts, with its numbers. The functions are pure; they tell how what the store has
 * counted at one moment counts later, so that a node can answer without asking again.
 */
public sealed interface Algorithm permits TokenBucket, SlidingWindow, FixedWindow, SlidingLog {

  /** The largest quota, in permits. */
  long MAX_QUOTA = 1_000_000_000_000L;

  /**
   * Levels are computed in doubles, here and in the store's script alike. Each step rounds by at
   * most a few units in the last place of the quota; this much forgives them, and is far below one
   * permit at any quota.
   */
  double ROUNDING = 0x1p-48;

  /** The most permits that can ever be spent at one instant, 0 to {@link #MAX_QUOTA}. */
  long quota();

  /** Seconds over which the quota is granted anew, rounded up. */
  long windowSeconds();

  /**
   * The most permits that can be spent in {@code windowMicros}, saturating at {@link
   * Long#MAX_VALUE}.
   */
  long admittedOver(long windowMicros);

  /**
   * This, of {@code millionths} of its quota, rounded down, and in its time.
   *
   * @param millionths 0 to {@link RegionWeights#WHOLE}
   */
  Algorithm scaled(long millionths);

  /**
   * What {@code shard} has of this, where it is divided evenly: its part of the quota, in whole
   * permits, and in the same time.
   */
  Algorithm part(Shard shard);

  /** Whether permits can be taken ahead of the requests that spend them. */
  default boolean leasable() {
    return true;
  }

  /** Whether what is counted ends with a window, and permits of it with it. */
  default boolean windowed() {
    return true;
  }

  /**
   * Permits that count against the quota, 0 or more.
   *
   * @param elapsedMicros since {@code then} was true; a negative time, of a clock that stepped
   *     back, counts as none
   */
  double levelAfter(Consumption then, long elapsedMicros);

  /**
   * Microseconds from {@code elapsedMicros} on until {@code cost} permits fit on top of what then
   * counts; 0 if they do already, or if only the store can tell.
   *
   * @param cost at most the quota; negative if permits are about to go back
   */
  long microsUntilFits(Consumption then, long elapsedMicros, long cost);

  /** Microseconds from {@code elapsedMicros} on until all of the quota is there again. */
  long microsUntilReset(Consumption then, long elapsedMicros);

  /** Whether {@code cost} permits fit on top of the level {@code used}. */
  default boolean fits(double used, long cost) {
    return used + cost <= quota() * (1 + ROUNDING);
  }

  /** Whole permits that fit on top of the level {@code used}, 0 or more. */
  default long free(double used) {
    return Math.max(0, (long) Math.floor(quota() * (1 + ROUNDING) - used));
  }
}
