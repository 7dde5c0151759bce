package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Algorithm;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod;
import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

/** The embedded store and the one on Redis, step by step through the same random histories. */
final class StoreTwinTest {
  /** Clocks step back by less than what an entry outlives its level. */
  private static final long FURTHEST_BACK_MICROS = 9_000_000;

  private static final VirtualClock time = new VirtualClock();
  private static Vertx vertx;
  private static StoreDriver embedded;
  private static StoreDriver redis;
  private static int keys;

  /**
   * A refill of a history.
   *
   * @param advanceMicros before the refill, negative for a clock that steps back
   */
  record Step(long advanceMicros, boolean forget, List<Draft> takes) {}

  /**
   * A take whose returned permits are of a window that the history has seen.
   *
   * @param windowsAgo 0 for the last window that the store told, -1 for none
   */
  record Draft(Limit limit, long returned, int windowsAgo, long charged, long need, long more) {
    Take of(List<Long> ends) {
      boolean known = windowsAgo >= 0 && windowsAgo < ends.size();
      long grantedIn = known ? ends.get(ends.size() - 1 - windowsAgo) : 0;
      return new Take(limit, returned, grantedIn, charged, need, need + more);
    }
  }

  @BeforeContainer
  static void openStores() {
    vertx = Vertx.vertx();
    RedisServer.shared().call("FLUSHALL");
    embedded =
        new StoreDriver(vertx, new EmbeddedStore(RedisTime.WINDOW, time, StoreDriver.ROOM)).start();
    redis = RedisTime.store(vertx, RedisServer.shared(), time, "weir").start();
  }

  @AfterContainer
  static void closeStores() {
    embedded.close();
    redis.close();
    StoreDriver.await(vertx.close());
  }

  /** That no history has used yet. */
  private static String newKey() {
    keys++;
    return "key" + keys;
  }

  @Property(tries = 300)
  void bothStoresGrantTheSameAndCountTheSame(@ForAll("histories") List<Step> history) {
    String key = newKey();
    long latest = time.micros();
    Map<String, List<Long>> ends = new HashMap<>();
    for (Step step : history) {
      long to = Math.max(time.micros() + step.advanceMicros, latest - FURTHEST_BACK_MICROS);
      time.advanceMicros(to - time.micros());
      latest = Math.max(latest, to);
      List<Take> takes =
          step.takes.stream()
              .map(t -> t.of(ends.computeIfAbsent(t.limit.name(), name -> new ArrayList<>())))
              .toList();
      if (step.forget) {
        redis.forget(key, "first");
        embedded.forget(key, "first");
      }
      Refill refill = new Refill(key, takes);
      Answered answer = (Answered) embedded.refill(List.of(refill)).get(0);
      assertThat(redis.refillInAnyEpoch(refill))
          .as("%s at %d", refill, time.epochMicros())
          .isEqualTo(answer);
      for (int i = 0; i < takes.size(); i++) {
        long end = answer.storeMicros() + answer.levels().get(i).consumption().leftMicros();
        List<Long> seen = ends.get(takes.get(i).limit().name());
        if (seen.isEmpty() || seen.get(seen.size() - 1) != end) {
          seen.add(end);
        }
      }
    }
  }

  @Property(tries = 150)
  void noMoreIsEverAdmittedThanCapacityAndRefill(
      @ForAll("limits") Limit limit, @ForAll("courses") List<Course> course) {
    TokenBucket bucket = (TokenBucket) limit.algorithm();
    String key = newKey();
    List<Long> grantedSince = new ArrayList<>();
    List<Double> refilledSince = new ArrayList<>();
    long held = 0;
    long latest = time.micros();
    for (Course move : course) {
      long to = Math.max(time.micros() + move.advanceMicros, latest - FURTHEST_BACK_MICROS);
      double refilled = Math.max(0, to - time.micros()) * bucket.permitsPerMicro();
      time.advanceMicros(to - time.micros());
      latest = Math.max(latest, to);
      long returned = Math.min(held, move.returned);
      long need = Math.min(move.need, bucket.capacity());
      Take take = new Take(limit, returned, 0, need, need + move.more);
      Level level = redis.step(key, take).get(0);
      assertThat(embedded.step(key, take)).containsExactly(level);
      held += level.granted() - returned;
      // Over every interval that ends here, its first grant included.
      grantedSince.add(0L);
      refilledSince.add(0.0);
      for (int start = 0; start < grantedSince.size(); start++) {
        grantedSince.set(start, grantedSince.get(start) + level.granted() - returned);
        boolean begins = start == grantedSince.size() - 1;
        refilledSince.set(start, refilledSince.get(start) + (begins ? 0 : refilled));
        double bound = bucket.capacity() + refilledSince.get(start);
        assertThat((double) grantedSince.get(start)).isLessThanOrEqualTo(bound * (1 + 1e-9));
      }
    }
  }

  /** A move of a history with fixed numbers. */
  record Course(long advanceMicros, long returned, long need, long more) {}

  @Provide
  Arbitrary<List<Course>> courses() {
    return Combinators.combine(advances(), amounts(20), amounts(30), amounts(30))
        .as(Course::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(25);
  }

  @Provide
  Arbitrary<List<Step>> histories() {
    Arbitrary<Boolean> forgets =
        Arbitraries.frequencyOf(
            Tuple.of(30, Arbitraries.just(false)), Tuple.of(1, Arbitraries.just(true)));
    return Combinators.combine(advances(), forgets, takes())
        .as(Step::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(40);
  }

  private static Arbitrary<List<Draft>> takes() {
    Arbitrary<Draft> first = take("first");
    Arbitrary<Draft> second = take("second");
    return Arbitraries.oneOf(
        first.map(List::of), second.map(List::of), Combinators.combine(first, second).as(List::of));
  }

  private static Arbitrary<Draft> take(String name) {
    Arbitrary<Long> amount = Arbitraries.oneOf(amounts(12), amounts(2_000_000_000_000L));
    Arbitrary<Long> seldom =
        Arbitraries.frequencyOf(Tuple.of(3, Arbitraries.just(0L)), Tuple.of(1, amount));
    return Combinators.combine(
            limitsOfAnyKind(name),
            seldom,
            Arbitraries.integers().between(-1, 2),
            seldom,
            Arbitraries.frequencyOf(Tuple.of(4, amount), Tuple.of(1, Arbitraries.just(0L))),
            seldom)
        .as(Draft::new);
  }

  @Provide
  Arbitrary<Limit> limits() {
    return limitsNamed("default");
  }

  private static Arbitrary<Limit> limitsNamed(String name) {
    // From 1 a year to 10^9 a second, by odd numbers that no double holds exactly.
    Arbitrary<TokenBucket> buckets =
        Combinators.combine(
                Arbitraries.of(0.3, 1.0, 7.7, 100.0, 12345.678),
                Arbitraries.of(
                    Duration.ofSeconds(1),
                    Duration.ofMinutes(7),
                    Duration.ofHours(1),
                    Duration.ofDays(31)),
                Arbitraries.of(0L, 1L, 3L, 10L, 100L, 1_000_003L, 1_000_000_000_000L))
            .as(TokenBucket::new);
    Arbitrary<TokenBucket> extremes =
        Arbitraries.of(
            new TokenBucket(1, Duration.ofDays(365), 1_000_000_000_000L),
            new TokenBucket(1, Duration.ofDays(365), 2),
            new TokenBucket(1e9, Duration.ofSeconds(1), 1_000_000_000_000L),
            new TokenBucket(1e9, Duration.ofSeconds(1), 5));
    return Arbitraries.frequencyOf(Tuple.of(4, buckets), Tuple.of(1, extremes))
        .map(bucket -> new Limit(name, Set.of(), bucket));
  }

  /** Few of them, so that a history stays with one for a while. */
  private static Arbitrary<Limit> limitsOfAnyKind(String name) {
    Arbitrary<Duration> windows =
        Arbitraries.of(
            Duration.ofMillis(1),
            Duration.ofSeconds(1),
            Duration.ofMillis(7001),
            Duration.ofHours(1));
    Arbitrary<Long> quotas = Arbitraries.of(0L, 3L, 10L, 1_000_000_000_000L);
    Arbitrary<Algorithm> sliding =
        Combinators.combine(quotas, windows).as(SlidingWindow::new).map(a -> a);
    Arbitrary<Algorithm> fixed =
        Combinators.combine(quotas, windows.map(WindowPeriod.Every::new))
            .as(FixedWindow::new)
            .map(a -> a);
    Arbitrary<Algorithm> calendar =
        Combinators.combine(
                quotas,
                Arbitraries.of(CalendarUnit.values())
                    .map(unit -> new Calendar(unit, ZoneId.of("Europe/Berlin"))))
            .as(FixedWindow::new)
            .map(a -> a);
    Arbitrary<Algorithm> logs =
        Combinators.combine(quotas, windows).as(SlidingLog::new).map(a -> a);
    return Arbitraries.frequencyOf(
        Tuple.of(2, limitsNamed(name)),
        Tuple.of(
            6,
            Arbitraries.oneOf(sliding, fixed, calendar, logs)
                .map(algorithm -> new Limit(name, Set.of(), algorithm))));
  }

  private static Arbitrary<Long> advances() {
    return Arbitraries.frequencyOf(
        Tuple.of(2, Arbitraries.just(0L)),
        Tuple.of(3, Arbitraries.longs().between(1, 3_000_000)),
        Tuple.of(1, Arbitraries.longs().between(-5_000_000, -1)),
        Tuple.of(1, Arbitraries.longs().between(1, 40L * 86_400_000_000L)));
  }

  private static Arbitrary<Long> amounts(long max) {
    return Arbitraries.longs().between(0, max);
  }
}
