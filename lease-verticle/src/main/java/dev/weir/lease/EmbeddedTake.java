package dev.weir.lease;

import dev.weir.config.Consumption;

/** A take under way in the embedded store: returns and charges are applied, the grant is not. */
sealed interface EmbeddedTake permits BucketTake, WindowTake, LogTake {

  Take take();

  boolean fits();

  /** Permits that fit. */
  long free();

  /** Permits to be granted if all takes of the refill fit. */
  default long grantable() {
    return Math.max(take().need(), Math.min(take().ask(), free()));
  }

  /** Where, or when, the grant is counted, for {@link OpenReservations.Part}; once it is kept. */
  double mark();

  /**
   * Whether there are reservations of the limit, after the grant is kept. Those of another way of
   * counting end with it.
   */
  boolean reserved(long granted);

  /** Keeps what is counted after {@code granted} permits are. */
  Consumption settle(long granted);
}
