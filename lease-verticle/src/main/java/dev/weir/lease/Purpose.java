package dev.weir.lease;

import java.time.Duration;
import java.util.Optional;

/** What a refill is for, beside its takes. */
public sealed interface Purpose {

  /** Permits for a node to spend, or to give back. */
  record Lease() implements Purpose {}

  /**
   * One decision by the store itself, whose takes all need the same cost.
   *
   * @param reservation that it makes of what is granted, if any
   * @param once by which it is told from another, if it must not be made twice
   */
  record Decide(Optional<Reservation> reservation, Optional<Once> once) implements Purpose {}

  /**
   * The end of a reservation; without takes.
   *
   * @param reservation its id
   * @param spent permits of it that stay used, 0 or more, or {@link #ALL}; the rest goes back
   */
  record Settle(String reservation, long spent) implements Purpose {
    /** Stands for all that is reserved. */
    public static final long ALL = -1;
  }

  /**
   * Permits that are used at once and go back when nobody has settled them in time.
   *
   * @param id unique for the key; letters, digits, '-' and '_', always as many
   * @param life until they go back, whole milliseconds, 1 or more
   */
  record Reservation(String id, Duration life) {
    public Reservation {
      if (id.isEmpty() || life.toMillis() < 1) {
        throw new IllegalArgumentException("id '" + id + "', life " + life);
      }
    }
  }

  /**
   * A decision that is made once within {@value #LIFE_MILLIS} ms.
   *
   * @param id unique for the key, printable ASCII
   * @param request what is asked; the same id with another request is refused
   */
  record Once(String id, String request) {
    /** For how long its outcome is known. */
    public static final long LIFE_MILLIS = 60_000;

    public Once {
      if (id.isEmpty() || request.isEmpty()) {
        throw new IllegalArgumentException("id '" + id + "', request '" + request + "'");
      }
    }
  }
}
