package dev.weir.lease;

import dev.weir.config.Algorithm;
import dev.weir.config.Clock;
import dev.weir.config.Consumption;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod;
import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.lease.EmbeddedCounters.Name;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The store of a single node, in its own memory: the exact twin of {@code refill.lua}, which says
 * what each step is for. Its time is the node's wall clock at the start, carried on by the clock
 * that never steps. What it holds goes when its time to live is over, as in Redis, and sooner where
 * the heap has no {@linkplain KeyRoom room} for it: the levels first that are next to leak away.
 */
final class EmbeddedStore implements Store {
  /** Units authorized in an accounting window; changes in place, as a bucket's level does. */
  private static final class Authorized {
    private long window = Long.MIN_VALUE;
    private long units;
  }

  private final EmbeddedCounters counters;
  private final EmbeddedReservations reservations;
  private final EmbeddedOnce once;
  private final StoreWindow.Calendars calendars = new StoreWindow.Calendars();
  private final ExpiringMap<Name, Authorized> authorized;
  private final AccountingWindow window;
  private final Clock clock;
  private final long epochMicros;

  EmbeddedStore(AccountingWindow window, Clock clock, KeyRoom room) {
    this.counters = new EmbeddedCounters(room.levels());
    this.reservations = new EmbeddedReservations(counters, room.recent());
    this.once = new EmbeddedOnce(room.recent());
    this.authorized =
        new ExpiringMap<>(
            room.levels(), (name, units) -> KeyRoom.places(name.key()), (name, units) -> {});
    this.window = window;
    this.clock = clock;
    this.epochMicros = clock.epochMillis() * 1000 - clock.micros();
  }

  @Override
  public synchronized List<Future<RefillOutcome>> refill(List<Refill> batch) {
    long now = epochMicros + clock.micros();
    List<Future<RefillOutcome>> outcomes = new ArrayList<>(batch.size());
    for (Refill refill : batch) {
      outcomes.add(Future.succeededFuture(carryOut(refill, now)));
    }
    return outcomes;
  }

  private RefillOutcome carryOut(Refill refill, long now) {
    if (refill.purpose() instanceof Purpose.Settle settle) {
      return reservations.settle(refill, settle, now);
    }
    if (refill.purpose() instanceof Purpose.Decide decide) {
      return decide.once().isEmpty()
          ? decide(refill, decide, now)
          : once.outcome(refill, decide.once().get(), now, () -> decide(refill, decide, now));
    }
    return step(refill, now, (take, granted) -> {});
  }

  private Answered decide(Refill refill, Purpose.Decide decide, long now) {
    return decide
        .reservation()
        .map(
            reservation -> {
              EmbeddedReservations.Draft draft = reservations.draft(refill, reservation, now);
              Answered answer = step(refill, now, draft::add);
              draft.keep();
              return answer;
            })
        .orElseGet(() -> step(refill, now, (take, granted) -> {}));
  }

  /**
   * Each level that is dropped begins an epoch: what nodes were told before may be more. That goes
   * for levels that the step itself drops, its own among them.
   *
   * @param granting told of each grant, when it is kept
   */
  private Answered step(Refill refill, long now, BiConsumer<EmbeddedTake, Long> granting) {
    long epoch = counters.droppedCount();
    List<EmbeddedTake> takes = new ArrayList<>(refill.takes().size());
    boolean fits = true;
    for (Take take : refill.takes()) {
      EmbeddedTake found = find(refill.key(), take, now);
      fits &= found.fits();
      takes.add(found);
    }
    List<Level> outcome = new ArrayList<>(takes.size());
    for (EmbeddedTake take : takes) {
      long granted = fits ? take.grantable() : 0;
      Consumption consumption = take.settle(granted);
      if (granted > 0) {
        granting.accept(take, granted);
      }
      long units = authorize(refill.key(), take.take().limit(), granted, now);
      outcome.add(new Level(granted, consumption, units, take.reserved(granted)));
    }
    return new Answered(now, outcome, epoch);
  }

  private EmbeddedTake find(String key, Take take, long now) {
    Name name = Name.of(key, take.limit());
    double told =
        take.told().epoch() == counters.droppedCount() || counters.holds(name, now)
            ? 0
            : take.told().used();
    Algorithm algorithm = take.limit().algorithm();
    if (algorithm instanceof TokenBucket bucket) {
      return new BucketTake(counters, name, take, bucket, told, now);
    }
    if (algorithm instanceof SlidingWindow sliding) {
      long length = sliding.windowMicros();
      StoreWindow window = StoreWindow.every(key, length, now);
      return new WindowTake(counters, name, take, window, length, "", told, now);
    }
    if (algorithm instanceof FixedWindow fixed) {
      return fixed(key, name, take, fixed.period(), told, now);
    }
    return new LogTake(counters, name, take, (SlidingLog) algorithm, told, now);
  }

  private EmbeddedTake fixed(
      String key, Name name, Take take, WindowPeriod period, double told, long now) {
    if (period instanceof Calendar calendar) {
      StoreWindow window = calendars.at(calendar, now);
      return new WindowTake(counters, name, take, window, 0, StoreWindow.name(calendar), told, now);
    }
    long length = period.nominal().toNanos() / 1000;
    StoreWindow window = StoreWindow.every(key, length, now);
    return new WindowTake(counters, name, take, window, 0, Long.toString(length), told, now);
  }

  /** Where the clock has stepped back a window, units are of the later one. */
  private long authorize(String key, Limit limit, long granted, long now) {
    Name name = Name.of(key, limit);
    long nowMillis = now / 1000;
    long index = window.index(key, now);
    Optional<Authorized> kept = authorized.get(name, nowMillis);
    if (granted == 0) {
      return kept.filter(units -> units.window >= index).map(units -> units.units).orElse(0L);
    }
    Authorized units = kept.orElseGet(Authorized::new);
    if (units.window < index) {
      units.window = index;
      units.units = 0;
    }
    units.units += granted;
    authorized.put(name, units, (double) (nowMillis + window.counterMillis()), nowMillis);
    return units.units;
  }

  @Override
  public synchronized Future<Void> forget(String key, Shard shard, List<String> limitNames) {
    long nowMillis = (epochMicros + clock.micros()) / 1000;
    limitNames.forEach(limit -> counters.forget(new Name(key, shard, limit), nowMillis));
    return Future.succeededFuture();
  }

  /** Levels that had to make room for others. Safe to read from any thread. */
  long droppedCount() {
    return counters.droppedCount();
  }

  @Override
  public boolean immediate() {
    return true;
  }
}
