package dev.weir.lease;

import dev.weir.config.Consumption;
import dev.weir.config.Shard;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Repeated;
import dev.weir.lease.RefillOutcome.UsedOtherwise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Outcomes of steps that are made once, as {@code refill.lua} has them. Owned by one thread. */
final class EmbeddedOnce {
  private static final Level UNTOUCHED = new Level(0, Consumption.NONE, 0);

  private record Id(String key, Shard shard, String once) {}

  private record Known(
      String request, long storeMicros, Map<String, Level> levels, Optional<String> reservation) {}

  private final ExpiringMap<Id, Known> known;

  /**
   * @param most places of outcomes, see {@link KeyRoom}
   */
  EmbeddedOnce(int most) {
    known = new ExpiringMap<>(most, (id, of) -> KeyRoom.places(id.key), (id, of) -> {});
  }

  /** What came of a step, or comes of it now. */
  RefillOutcome outcome(Refill refill, Purpose.Once once, long now, Supplier<Answered> step) {
    long nowMillis = now / 1000;
    Id id = new Id(refill.key(), refill.shard(), once.id());
    Optional<Known> found = known.get(id, nowMillis);
    if (found.isPresent()) {
      return found.get().request.equals(once.request())
          ? repeated(refill, found.get())
          : new UsedOtherwise();
    }
    Answered answer = step.get();
    Map<String, Level> levels = new HashMap<>();
    for (int i = 0; i < refill.takes().size(); i++) {
      levels.put(refill.takes().get(i).limit().name(), answer.levels().get(i));
    }
    known.put(
        id,
        new Known(once.request(), now, levels, reservationOf(refill, answer)),
        (double) nowMillis + Purpose.Once.LIFE_MILLIS,
        nowMillis);
    return answer;
  }

  private static RefillOutcome repeated(Refill refill, Known then) {
    List<Level> levels = new ArrayList<>();
    for (Take take : refill.takes()) {
      levels.add(then.levels.getOrDefault(take.limit().name(), UNTOUCHED));
    }
    return new Repeated(new Answered(then.storeMicros, levels), then.reservation);
  }

  private static Optional<String> reservationOf(Refill refill, Answered answer) {
    boolean granted = answer.levels().stream().anyMatch(level -> level.granted() > 0);
    return granted && refill.purpose() instanceof Purpose.Decide decide
        ? decide.reservation().map(Purpose.Reservation::id)
        : Optional.empty();
  }
}
