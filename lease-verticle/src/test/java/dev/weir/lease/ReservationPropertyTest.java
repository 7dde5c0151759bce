package dev.weir.lease;

import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Verdict;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Reservations in random histories: both stores alike, and nothing minted. */
final class ReservationPropertyTest {
  private static final VirtualClock time = new VirtualClock();
  private static Vertx vertx;
  private static StoreDriver embedded;
  private static StoreDriver redis;
  private static int keys;

  /** What is done at one moment. */
  enum Deed {
    TAKE,
    RETURN,
    RESERVE,
    SETTLE,
    ONCE,
    RESERVE_ONCE,
    PEEK,
    FORGET
  }

  /**
   * A move of a history.
   *
   * @param which of the limits, or of the reservations so far
   */
  record Move(long advanceMicros, Deed deed, int which, long amount, long lifeMillis) {}

  /** How a reservation comes to its end. */
  enum Fate {
    COMMITTED,
    RELEASED,
    EXPIRED
  }

  /** A take, or a reservation of which a part is spent in the end. */
  record Request(
      long advanceMicros, boolean reserves, long cost, Fate fate, double part, long lifeMillis) {
    long spent() {
      return !reserves ? cost : fate == Fate.COMMITTED ? (long) (cost * part) : 0;
    }
  }

  private record Pending(String id, long endMicros, long spent) {}

  @BeforeContainer
  static void openStores() {
    vertx = Vertx.vertx();
    embedded =
        new StoreDriver(vertx, new EmbeddedStore(RedisTime.WINDOW, time, StoreDriver.ROOM)).start();
    redis = RedisTime.store(vertx, RedisServer.shared(), time, "reserving").start();
  }

  @AfterContainer
  static void closeStores() {
    embedded.close();
    redis.close();
    StoreDriver.await(vertx.close());
  }

  @Property(tries = 300)
  void bothStoresReserveAndSettleTheSame(
      @ForAll("someLimits") List<Limit> limits, @ForAll("moves") List<Move> moves) {
    keys++;
    String key = "key" + keys;
    long latest = time.micros();
    int reserved = 0;
    for (Move move : moves) {
      // Clocks step back by less than what an entry outlives its level.
      long to = Math.max(time.micros() + move.advanceMicros, latest - 9_000_000);
      time.advanceMicros(to - time.micros());
      latest = Math.max(latest, to);
      if (move.deed == Deed.FORGET) {
        redis.forget(key, "first");
        embedded.forget(key, "first");
        continue;
      }
      if (move.deed == Deed.RESERVE || move.deed == Deed.RESERVE_ONCE) {
        reserved++;
      }
      Refill refill = refill(key, limits, move, reserved);
      RefillOutcome outcome = embedded.refill(List.of(refill)).get(0);
      assertThat(redis.refillInAnyEpoch(refill))
          .as("%s at %d", refill, time.epochMicros())
          .isEqualTo(outcome);
    }
  }

  private static Refill refill(String key, List<Limit> limits, Move move, int reserved) {
    Limit one = limits.get(move.which % limits.size());
    Limit other = limits.get((move.which + 1) % limits.size());
    List<Take> takes = new ArrayList<>(List.of(takeOf(one, move)));
    if (!other.name().equals(one.name())) {
      takes.add(takeOf(other, move));
    }
    Purpose.Reservation reservation =
        new Purpose.Reservation(id(reserved), Duration.ofMillis(move.lifeMillis));
    Purpose.Once once = new Purpose.Once("once" + move.which % 2, "request" + move.which % 3);
    return switch (move.deed) {
      case RESERVE -> decide(key, takes, Optional.of(reservation), Optional.empty());
      case RESERVE_ONCE -> decide(key, takes, Optional.of(reservation), Optional.of(once));
      case ONCE -> decide(key, takes, Optional.empty(), Optional.of(once));
      case SETTLE -> {
        String id = id(Math.max(0, reserved - move.which % 4));
        yield new Refill(key, List.of(), new Purpose.Settle(id, move.amount / 2));
      }
      default -> new Refill(key, takes);
    };
  }

  private static Refill decide(
      String key,
      List<Take> takes,
      Optional<Purpose.Reservation> reservation,
      Optional<Purpose.Once> once) {
    return new Refill(key, takes, new Purpose.Decide(reservation, once));
  }

  private static String id(int number) {
    return String.format("id%04d", number);
  }

  private static Take takeOf(Limit limit, Move move) {
    return switch (move.deed) {
      case PEEK -> Take.peek(limit);
      case RETURN -> new Take(limit, move.amount, 0, 0, 0);
      default -> take(limit, Math.max(1, move.amount));
    };
  }

  /**
   * A history with reservations, and in another store the same with none: there, what is committed
   * in the end is spent at once.
   */
  @Property(tries = 1000)
  void whatIsGrantedBesideReservationsIsGrantedWithoutThem(
      @ForAll("algorithms") Algorithm algorithm, @ForAll("requests") List<Request> requests) {
    keys++;
    String key = "key" + keys;
    Limit limit = new Limit("default", Set.of(), algorithm);
    // Made at one moment, lest their times differ by parts of a millisecond.
    StoreDriver reserving =
        new StoreDriver(vertx, new EmbeddedStore(RedisTime.WINDOW, time, StoreDriver.ROOM));
    StoreDriver plain =
        new StoreDriver(vertx, new EmbeddedStore(RedisTime.WINDOW, time, StoreDriver.ROOM));
    List<Pending> open = new ArrayList<>();
    int reserved = 0;
    for (Request request : requests) {
      settleThoseThatWouldEnd(reserving, key, open, request.advanceMicros);
      time.advanceMicros(request.advanceMicros);
      boolean granted;
      if (request.reserves) {
        String id = id(reserved++);
        Duration life = Duration.ofMillis(request.lifeMillis);
        Level level = reserving.reserve(key, id, life, take(limit, request.cost)).get(0);
        granted = level.granted() > 0;
        if (granted && request.fate != Fate.EXPIRED) {
          open.add(new Pending(id, time.micros() + life.toMillis() * 1000, request.spent()));
        }
      } else {
        granted = reserving.granted(key, limit, request.cost) > 0;
      }
      if (algorithm instanceof SlidingWindow) {
        // When its permits came is an estimate, which one more can better: they count the same.
        plain.step(key, new Take(limit, 0, granted ? request.spent() : 0, 0, 0));
        Consumption with = consumption(reserving, key, limit);
        Consumption without = consumption(plain, key, limit);
        assertThat(with.used()).isGreaterThanOrEqualTo(without.used());
        assertThat(with.previous()).isGreaterThanOrEqualTo(without.previous());
        continue;
      }
      if (granted && request.spent() > 0) {
        assertThat(plain.granted(key, limit, request.spent())).isEqualTo(request.spent());
      }
      assertThat(level(reserving, key, limit))
          .isGreaterThanOrEqualTo(level(plain, key, limit) - 1e-6);
    }
    settleThoseThatWouldEnd(reserving, key, open, Long.MAX_VALUE / 2);
    time.advance(Duration.ofSeconds(4));
    double with = level(reserving, key, limit);
    double without = level(plain, key, limit);
    assertThat(with).isGreaterThanOrEqualTo(without - 1e-6);
    if (algorithm.windowed() && !(algorithm instanceof SlidingWindow)) {
      assertThat(with).isEqualTo(without);
    }
  }

  private static void settleThoseThatWouldEnd(
      StoreDriver reserving, String key, List<Pending> open, long advance) {
    List<Pending> ending =
        open.stream().filter(pending -> pending.endMicros <= time.micros() + advance).toList();
    for (Pending pending : ending) {
      assertThat(reserving.settle(key, pending.id, pending.spent).verdict())
          .isEqualTo(Verdict.SETTLED);
    }
    open.removeAll(ending);
  }

  private static double level(StoreDriver store, String key, Limit limit) {
    return limit.algorithm().levelAfter(consumption(store, key, limit), 0);
  }

  private static Consumption consumption(StoreDriver store, String key, Limit limit) {
    return store.step(key, Take.peek(limit)).get(0).consumption();
  }

  @Provide
  Arbitrary<List<Move>> moves() {
    Arbitrary<Long> advances =
        Arbitraries.frequencyOf(
            Tuple.of(3, Arbitraries.just(0L)),
            Tuple.of(4, Arbitraries.longs().between(1, 3_000_000)),
            Tuple.of(1, Arbitraries.longs().between(-5_000_000, -1)),
            Tuple.of(1, Arbitraries.longs().between(1, 4L * 3_600_000_000L)));
    Arbitrary<Deed> deeds =
        Arbitraries.frequency(
            Tuple.of(4, Deed.TAKE),
            Tuple.of(2, Deed.RETURN),
            Tuple.of(6, Deed.RESERVE),
            Tuple.of(5, Deed.SETTLE),
            Tuple.of(1, Deed.ONCE),
            Tuple.of(1, Deed.RESERVE_ONCE),
            Tuple.of(3, Deed.PEEK),
            Tuple.of(1, Deed.FORGET));
    return Combinators.combine(
            advances,
            deeds,
            Arbitraries.integers().between(0, 11),
            Arbitraries.longs().between(0, 6),
            Arbitraries.of(1L, 700L, 2_500L, 60_000L, 3_600_000L))
        .as(Move::new)
        .list()
        .ofMinSize(5)
        .ofMaxSize(50);
  }

  /** Mostly one way of counting for each of two limits, and now and then other numbers. */
  @Provide
  Arbitrary<List<Limit>> someLimits() {
    return Combinators.combine(algorithms(), algorithms(), algorithms(), rates())
        .as(
            (first, second, third, rate) ->
                List.of(
                    new Limit("first", Set.of(), first),
                    new Limit("second", Set.of(), second),
                    new Limit("first", Set.of(), first),
                    new Limit("second", Set.of(), other(second, rate)),
                    new Limit("first", Set.of(), first),
                    new Limit("second", Set.of(), second),
                    new Limit("first", Set.of(), rate < 1 ? third : first)));
  }

  private static Algorithm other(Algorithm algorithm, double rate) {
    return algorithm instanceof TokenBucket bucket
        ? new TokenBucket(rate, bucket.period(), bucket.capacity())
        : algorithm;
  }

  private static Arbitrary<Double> rates() {
    return Arbitraries.of(0.3, 1.0, 7.7);
  }

  @Provide
  Arbitrary<Algorithm> algorithms() {
    Arbitrary<Long> quotas = Arbitraries.of(1L, 3L, 10L, 40L);
    Arbitrary<Duration> windows =
        Arbitraries.of(
            Duration.ofMillis(10),
            Duration.ofSeconds(1),
            Duration.ofMillis(7001),
            Duration.ofHours(1));
    return Combinators.combine(quotas, windows, rates(), Arbitraries.integers().between(0, 4))
        .as(
            (quota, window, rate, kind) ->
                switch (kind) {
                  case 0 -> new TokenBucket(quota * rate, window, quota);
                  case 1 -> new TokenBucket(rate, window, quota);
                  case 2 -> new FixedWindow(quota, new Every(window));
                  case 3 -> new SlidingLog(quota, window);
                  default -> new SlidingWindow(quota, window);
                });
  }

  @Provide
  Arbitrary<List<Request>> requests() {
    Arbitrary<Long> advances =
        Arbitraries.frequencyOf(
            Tuple.of(3, Arbitraries.just(0L)),
            Tuple.of(4, Arbitraries.longs().between(1, 20_000)),
            Tuple.of(4, Arbitraries.longs().between(1, 3_000_000)),
            Tuple.of(1, Arbitraries.longs().between(1, 3_600_000_000L)));
    return Combinators.combine(
            advances,
            Arbitraries.of(true, true, false),
            Arbitraries.longs().between(1, 12),
            Arbitraries.of(Fate.values()),
            Arbitraries.doubles().between(0, 1),
            Arbitraries.of(1L, 15L, 700L, 2_500L, 4_000L))
        .as(Request::new)
        .list()
        .ofMinSize(3)
        .ofMaxSize(40);
  }
}
