package dev.weir.lease;

import dev.weir.config.Shard;
import dev.weir.lease.EmbeddedCounters.Name;
import dev.weir.lease.OpenReservations.Part;
import dev.weir.lease.RefillOutcome.Settled;
import dev.weir.lease.RefillOutcome.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reservations by their ids, as {@code refill.lua} has them. Owned by one thread. */
final class EmbeddedReservations {
  /** How much longer than it could have been open a reservation is known to be settled. */
  private static final double SETTLED_MILLIS = 60_000;

  private record Id(String key, Shard shard, String reservation) {}

  private record Held(Name limit, Part part) {}

  /** What is known of one; it holds nothing once it is settled. */
  private record Known(long endMicros, long units, boolean settled, List<Held> held) {}

  private final EmbeddedCounters counters;
  private final ExpiringMap<Id, Known> known;

  /**
   * @param most places of reservations, see {@link KeyRoom}; what those hold that have to go is
   *     held until their time is over
   */
  EmbeddedReservations(EmbeddedCounters counters, int most) {
    this.counters = counters;
    this.known = new ExpiringMap<>(most, (id, of) -> KeyRoom.places(id.key), (id, of) -> {});
  }

  /** A reservation in the making. */
  Draft draft(Refill refill, Purpose.Reservation reservation, long now) {
    return new Draft(refill, reservation, now);
  }

  Settled settle(Refill refill, Purpose.Settle settle, long now) {
    Id id = new Id(refill.key(), refill.shard(), settle.reservation());
    Optional<Known> found = known.get(id, now / 1000);
    if (found.isEmpty()) {
      return new Settled(Verdict.UNKNOWN, 0);
    }
    Known open = found.get();
    if (open.settled) {
      return new Settled(Verdict.BEFORE, open.units);
    }
    if (open.endMicros <= now) {
      return new Settled(Verdict.UNKNOWN, 0);
    }
    long spent = settle.spent() == Purpose.Settle.ALL ? open.units : settle.spent();
    if (spent > open.units) {
      return new Settled(Verdict.TOO_MUCH, open.units);
    }
    for (Held held : open.held) {
      counters.end(held.limit, held.part, open.units - spent, now);
    }
    long nowMillis = now / 1000;
    long leftMillis = -Math.floorDiv(now - open.endMicros, 1000L);
    known.put(
        id,
        new Known(open.endMicros, open.units, true, List.of()),
        nowMillis + leftMillis + SETTLED_MILLIS,
        nowMillis);
    return new Settled(Verdict.SETTLED, open.units);
  }

  /** Gathers what is granted to a reservation. */
  final class Draft {
    private final Refill refill;
    private final Purpose.Reservation reservation;
    private final long now;
    private final List<Held> held = new ArrayList<>();

    private Draft(Refill refill, Purpose.Reservation reservation, long now) {
      this.refill = refill;
      this.reservation = reservation;
      this.now = now;
    }

    private long endMicros() {
      return now + reservation.life().toMillis() * 1000;
    }

    void add(EmbeddedTake take, long granted) {
      Name limit = Name.of(refill.key(), take.take().limit());
      Part part = new Part(now, endMicros(), reservation.id(), granted, take.mark());
      counters.reserve(limit, part, now / 1000);
      held.add(new Held(limit, part));
    }

    void keep() {
      if (!held.isEmpty()) {
        long nowMillis = now / 1000;
        double expires = nowMillis + reservation.life().toMillis() + EmbeddedCounters.MARGIN_MILLIS;
        long units = held.get(0).part.units();
        known.put(
            new Id(refill.key(), refill.shard(), reservation.id()),
            new Known(endMicros(), units, false, List.copyOf(held)),
            expires,
            nowMillis);
      }
    }
  }
}
