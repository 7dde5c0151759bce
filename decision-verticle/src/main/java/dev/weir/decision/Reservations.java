package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Optional;

/** Permits that are held for later. Safe to use from any thread. */
interface Reservations {

  /**
   * What came of a request to hold permits.
   *
   * @param decision on it, as on a check
   * @param id by which they are settled; empty if it was denied
   */
  record Reserved(Decision decision, Optional<ReservationId> id) {}

  /** What came of settling a reservation. */
  enum Settlement {
    SETTLED,
    /** It was settled before. */
    BEFORE,
    /** Its time is over, or there never was one. */
    UNKNOWN,
    /** More should be spent than is reserved. */
    TOO_MUCH,
    /** The store did not answer in time: nothing was settled as far as known. */
    UNAVAILABLE
  }

  /**
   * What came of settling.
   *
   * @param reserved permits that were held, 0 if that is not known
   */
  record Settled(Settlement settlement, long reserved) {}

  /**
   * Holds the cost of {@code request}, which is charged at once.
   *
   * @param life until it goes back by itself, 1 s to 1 h
   * @return a future that fails with {@code CheckRefusedException} when the request is wrong, a
   *     cost of 0 included
   */
  Future<Reserved> reserve(CheckRequest request, Duration life);

  /**
   * Spends a part of a reservation and gives the rest back.
   *
   * @param spent permits, 0 or more, or {@link dev.weir.lease.Purpose.Settle#ALL}
   */
  Future<Settled> settle(ReservationId id, long spent);
}
