package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Algorithm;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.core.Vertx;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
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

/** Both stores against a plain list of all that was ever granted, in exact arithmetic. */
final class StoreModelTest {
  private static final ZoneId ZONE = ZoneId.of("America/New_York");

  private static final VirtualClock time = new VirtualClock();
  private static Vertx vertx;
  private static StoreDriver embedded;
  private static StoreDriver redis;
  private static int keys;

  /** Units granted or charged, or returned below 0. */
  record Use(long atMicros, long windowEnd, long units) {}

  /**
   * One refill, under a plan that may have changed.
   *
   * @param percent of the limit's first quota that it has now
   * @param returned of the last grant
   */
  record Move(int percent, long advanceMicros, long charged, long returned, long need, long more) {}

  @BeforeContainer
  static void openStores() {
    vertx = Vertx.vertx();
    embedded =
        new StoreDriver(vertx, new EmbeddedStore(RedisTime.WINDOW, time, StoreDriver.ROOM)).start();
    redis = RedisTime.store(vertx, RedisServer.shared(), time, "model").start();
  }

  @AfterContainer
  static void closeStores() {
    embedded.close();
    redis.close();
    StoreDriver.await(vertx.close());
  }

  @Property(tries = 300)
  void whatIsGrantedIsWhatAListOfAllRequestsAllows(
      @ForAll("algorithms") Algorithm planned, @ForAll("moves") List<Move> moves) {
    keys++;
    String key = "model" + keys;
    Limit first = new Limit("default", Set.of(), planned);
    List<Use> uses = new ArrayList<>();
    Use last = new Use(0, 0, 0);
    for (Move move : moves) {
      Limit limit =
          AlgorithmContract.withQuota(first, Math.max(1, planned.quota() * move.percent / 100));
      Algorithm algorithm = limit.algorithm();
      time.advanceMicros(move.advanceMicros);
      long now = time.epochMicros();
      long end = windowEnd(algorithm, key, now);
      long returned = Math.min(move.returned, last.units);
      if (algorithm instanceof TokenBucket) {
        returned = 0; // Its model leaks between a grant and its return.
      }
      boolean log = algorithm instanceof SlidingLog;
      long grantedIn = log ? last.atMicros : last.windowEnd;
      Take take =
          new Take(limit, returned, grantedIn, move.charged, move.need, move.need + move.more);
      Answered answer = (Answered) embedded.refill(List.of(new Refill(key, List.of(take)))).get(0);
      Level level = answer.levels().get(0);
      assertThat(redis.step(key, take)).containsExactly(level);

      if (returned > 0) {
        uses.add(new Use(last.atMicros, last.windowEnd, -returned));
        last = new Use(last.atMicros, last.windowEnd, last.units - returned);
      }
      uses.add(new Use(now, end, move.charged));
      BigDecimal free =
          BigDecimal.valueOf(algorithm.quota()).subtract(counts(algorithm, uses, now, end));
      long whole = Math.max(0, free.setScale(0, RoundingMode.FLOOR).longValue());
      long expected =
          move.need > whole ? 0 : Math.max(move.need, Math.min(whole, move.need + move.more));
      if (nearlyWhole(free) && algorithm instanceof TokenBucket) {
        assertThat(level.granted()).isBetween(Math.max(0, expected - 1), expected + 1);
      } else {
        assertThat(level.granted()).as("%s at %d, free %s", take, now, free).isEqualTo(expected);
      }
      if (level.granted() > 0) {
        last = new Use(now, end, level.granted());
        uses.add(last);
      } else if (move.need > 0 && move.need <= algorithm.quota()) {
        long wait = algorithm.microsUntilFits(level.consumption(), 0, move.need);
        assertThat(fitsAfter(algorithm, key, uses, now + wait, move.need)).isTrue();
      }
    }
  }

  private static boolean nearlyWhole(BigDecimal free) {
    BigDecimal off = free.subtract(free.setScale(0, RoundingMode.HALF_EVEN)).abs();
    return off.compareTo(new BigDecimal("1e-6")) < 0;
  }

  private static boolean fitsAfter(
      Algorithm algorithm, String key, List<Use> uses, long at, long cost) {
    BigDecimal used = counts(algorithm, uses, at, windowEnd(algorithm, key, at));
    BigDecimal over =
        used.add(BigDecimal.valueOf(cost)).subtract(BigDecimal.valueOf(algorithm.quota()));
    return over.compareTo(new BigDecimal("1e-6")) <= 0;
  }

  private static long windowEnd(Algorithm algorithm, String key, long now) {
    if (algorithm instanceof SlidingWindow window) {
      return every(key, window.windowMicros(), now);
    }
    if (algorithm instanceof FixedWindow window) {
      return window.period() instanceof Calendar calendar
          ? calendar.end(Instant.ofEpochSecond(Math.floorDiv(now, 1_000_000))).toEpochMilli() * 1000
          : every(key, window.period().nominal().toNanos() / 1000, now);
    }
    return 0;
  }

  private static long every(String key, long length, long now) {
    long jitter = Jitter.micros(key, length);
    return now - Math.floorMod(now + jitter, length) + length;
  }

  /** Units that count against the quota. */
  private static BigDecimal counts(Algorithm algorithm, List<Use> uses, long now, long end) {
    if (algorithm instanceof TokenBucket bucket) {
      return leaked(bucket, uses, now);
    }
    if (algorithm instanceof SlidingLog log) {
      return sum(uses.stream().filter(u -> u.atMicros > now - log.windowMicros()).toList());
    }
    BigDecimal used = sum(uses.stream().filter(u -> u.windowEnd == end).toList());
    if (algorithm instanceof SlidingWindow window) {
      long former = end - window.windowMicros();
      return used.add(
          stillThere(
              uses.stream().filter(u -> u.windowEnd == former).toList(),
              now - window.windowMicros(),
              window.windowMicros()));
    }
    return used;
  }

  /** Of a window that is over, the permits that did not come until {@code until}. */
  private static BigDecimal stillThere(List<Use> uses, long until, long length) {
    long count = 0;
    long first = 0;
    long last = 0;
    for (Use use : uses) {
      if (use.units > 0) {
        first = count == 0 ? use.atMicros : first;
        last = use.atMicros;
      }
      count += use.units;
    }
    long gone = 0;
    // The permits one by one would be a million: step over those whose time has not come by halves.
    for (long step = Long.highestOneBit(Math.max(1, count)); step > 0; step /= 2) {
      if (gone + step <= count
          && cameAt(gone + step, first, last, count, length).compareTo(BigDecimal.valueOf(until))
              <= 0) {
        gone += step;
      }
    }
    return BigDecimal.valueOf(count - gone);
  }

  /** When the {@code nth} permit of a window is taken to have come. */
  private static BigDecimal cameAt(long nth, long first, long last, long count, long length) {
    BigDecimal before = BigDecimal.valueOf(nth - 1);
    BigDecimal spread =
        before
            .multiply(BigDecimal.valueOf(length))
            .divide(BigDecimal.valueOf(count), MathContext.DECIMAL128);
    BigDecimal even =
        count == 1
            ? BigDecimal.ZERO
            : before
                .multiply(BigDecimal.valueOf(last - first))
                .divide(BigDecimal.valueOf(count - 1), MathContext.DECIMAL128);
    return BigDecimal.valueOf(first).add(spread.max(even));
  }

  private static BigDecimal leaked(TokenBucket bucket, List<Use> uses, long now) {
    BigDecimal level = BigDecimal.ZERO;
    long at = now;
    for (Use use : uses) {
      level = leak(bucket, level, Math.max(0, use.atMicros - at)).add(sum(List.of(use)));
      at = use.atMicros;
    }
    return leak(bucket, level, now - at);
  }

  private static BigDecimal leak(TokenBucket bucket, BigDecimal level, long micros) {
    return level
        .subtract(
            BigDecimal.valueOf(micros)
                .multiply(BigDecimal.valueOf(bucket.rate()))
                .divide(BigDecimal.valueOf(bucket.periodMicros()), MathContext.DECIMAL128))
        .max(BigDecimal.ZERO);
  }

  private static BigDecimal sum(List<Use> uses) {
    return BigDecimal.valueOf(uses.stream().mapToLong(Use::units).sum());
  }

  @Provide
  Arbitrary<Algorithm> algorithms() {
    Arbitrary<Long> quotas = Arbitraries.of(1L, 3L, 10L, 100L, 1_000_003L);
    Arbitrary<Duration> windows =
        Arbitraries.of(Duration.ofMillis(10), Duration.ofSeconds(1), Duration.ofMillis(7001));
    return Combinators.combine(
            quotas,
            windows,
            Arbitraries.of(CalendarUnit.values()),
            Arbitraries.integers().between(0, 4))
        .as(
            (quota, window, unit, kind) ->
                switch (kind) {
                  case 0 -> new TokenBucket(quota * 0.7, window, quota);
                  case 1 -> new FixedWindow(quota, new Every(window));
                  case 2 -> new FixedWindow(quota, new Calendar(unit, ZONE));
                  case 3 -> new SlidingLog(quota, window);
                  default -> new SlidingWindow(quota, window);
                });
  }

  @Provide
  Arbitrary<List<Move>> moves() {
    Arbitrary<Long> advances =
        Arbitraries.frequencyOf(
            Tuple.of(2, Arbitraries.just(0L)),
            Tuple.of(4, Arbitraries.longs().between(1, 20_000)),
            Tuple.of(4, Arbitraries.longs().between(1, 3_000_000)),
            Tuple.of(1, Arbitraries.longs().between(1, 86_400_000_000L)));
    Arbitrary<Long> seldom =
        Arbitraries.frequencyOf(
            Tuple.of(4, Arbitraries.just(0L)), Tuple.of(1, Arbitraries.longs().between(1, 12)));
    Arbitrary<Long> needs =
        Arbitraries.oneOf(
            Arbitraries.longs().between(0, 4), Arbitraries.longs().between(0, 1_000_000));
    Arbitrary<Integer> percents =
        Arbitraries.frequencyOf(
            Tuple.of(6, Arbitraries.just(100)), Tuple.of(2, Arbitraries.of(1, 50, 80, 200)));
    return Combinators.combine(percents, advances, seldom, seldom, needs, seldom)
        .as(Move::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(40);
  }
}
