package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.weir.config.Consumption;
import dev.weir.config.Limit;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a store on one Redis does besides: what it leaves there, and for how long. */
abstract class RedisStoreContract extends StoreContract {
  private static final String EPOCH = "weir:{" + StoreKeys.EPOCH_TAG + "}:epoch";
  private static final String LEVEL = "weir:{acme}:default:level";
  private static final Duration YEAR = Duration.ofDays(365);
  private static final long MARGIN_MILLIS = 10_000;

  /** What is authorized is known until its window of a minute is over, and a minute is slack. */
  private static final long LONGER_MILLIS = 2 * 60_000 + MARGIN_MILLIS;

  private static final long ABSENT = -2;

  abstract RedisServer server();

  @Override
  StoreDriver open(String prefix) {
    return RedisTime.store(vertx, server(), time, prefix);
  }

  @BeforeEach
  void startEmpty() {
    server().call("FLUSHALL");
  }

  static Stream<Limit> limits() {
    return Stream.of(
        limit(1, Duration.ofSeconds(1), 1),
        limit(1e9, Duration.ofSeconds(1), 1_000_000_000_000L),
        limit(1, YEAR, 10),
        limit(0.3, Duration.ofMinutes(7), 12345));
  }

  @ParameterizedTest
  @MethodSource("limits")
  void everyNameLivesAtLeastUntilItsLevelIsEmpty(Limit limit) {
    TokenBucket bucket = (TokenBucket) limit.algorithm();
    List<Take> steps =
        List.of(
            take(limit, 1),
            new Take(limit, 0, 7, 0, 0),
            new Take(limit, 3, 0, 0, 0),
            new Take(limit, 0, 0, 0, 5),
            take(limit, bucket.capacity()));
    for (Take step : steps) {
      double used = store.step("acme", step).get(0).used();
      long emptyMillis = bucket.microsUntilEmpty(used) / 1000;
      // Names live by the real clock, which goes on while the test looks.
      assertThat(pttl(LEVEL))
          .isBetween(used > 0 ? emptyMillis : ABSENT, emptyMillis + LONGER_MILLIS);
      time.advanceMicros(1234);
    }
    assertThat(names()).allSatisfy(name -> assertThat(pttl(name)).isPositive());
  }

  @Test
  void aTimeToEmptyBeyondWhatRedisCanCountIsCapped() {
    store.step("acme", new Take(limit(1, YEAR, 1), 0, 1_000_000_000_000L, 0, 0));
    assertThat(pttl(LEVEL)).isGreaterThan(8_000_000_000_000_000_000L);
  }

  @Test
  void aSlowerRateExtendsTheLifeOfALevelThatItDenies() {
    store.step("acme", take(limit(100, Duration.ofSeconds(1), 100), 100));
    Limit slow = limit(1, YEAR, 100);
    store.step("acme", Take.peek(slow));
    assertThat(pttl(LEVEL)).isLessThan(Duration.ofMinutes(3).toMillis());
    store.step("acme", take(slow, 1));
    assertThat(pttl(LEVEL)).isGreaterThan(YEAR.toMillis() * 100);
  }

  @Test
  void neitherAPeekNorADenialWrites() {
    Limit limit = limit(1, Duration.ofMinutes(1), 10);
    store.step("acme", take(limit, 10));
    server().call("PEXPIRE", LEVEL, "9000000");
    Object before = server().call("GET", LEVEL);
    time.advance(Duration.ofSeconds(1));
    store.step("acme", Take.peek(limit));
    store.step("acme", take(limit, 5));
    assertThat(server().call("GET", LEVEL)).isEqualTo(before);
    assertThat(pttl(LEVEL)).isGreaterThan(8_000_000);
    store.step("nobody", Take.peek(limit));
    store.step("nobody", take(limit, 11));
    assertThat(names()).noneMatch(name -> name.contains("nobody"));
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void neitherAPeekNorADenialWritesWhateverTheAlgorithm(Limit limit) {
    store.step("acme", take(limit, 10));
    time.advance(Duration.ofMillis(5));
    List<Object> before = contents();
    List<Long> lives = names().stream().map(this::pttl).toList();
    store.step("acme", Take.peek(limit));
    assertThat(store.step("acme", take(limit, 9)).get(0).granted()).isZero();
    store.step("acme", new Take(limit, 5, 12345, 0, 0, 0));
    if (limit.algorithm().windowed()) {
      assertThat(contents()).isEqualTo(before);
    }
    for (int i = 0; i < lives.size(); i++) {
      assertThat(pttl(names().get(i))).isLessThanOrEqualTo(lives.get(i));
    }
    store.step("nobody", Take.peek(limit));
    store.step("nobody", take(limit, 11));
    assertThat(names()).noneMatch(name -> name.contains("nobody"));
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void allNamesOfEveryAlgorithmLiveUntilNothingCounts(Limit limit) {
    long end = 0;
    for (int i = 0; i < 3; i++) {
      Consumption counted = store.step("acme", take(limit, 2)).get(0).consumption();
      store.step("acme", new Take(limit, 1, time.epochMicros() + end, 1, 0, 0));
      end = counted.leftMicros();
      long empty = limit.algorithm().microsUntilReset(counted, 0) / 1000;
      assertThat(names()).isNotEmpty();
      assertThat(names())
          .allSatisfy(
              name -> assertThat(pttl(name)).isBetween(empty, empty + 86_500_000 + LONGER_MILLIS));
      time.advance(Duration.ofSeconds(4));
    }
    assertThat(names()).allSatisfy(name -> assertThat(pttl(name)).isPositive());
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void whatStandsForReservationsLivesAsLongAsItCounts(Limit limit) {
    Purpose.Reservation reservation = new Purpose.Reservation("a", Duration.ofMinutes(1));
    Purpose.Once once = new Purpose.Once("an id", "what is asked");
    Purpose purpose = new Purpose.Decide(Optional.of(reservation), Optional.of(once));
    store.step("acme", purpose, take(limit, 4));
    assertThat(names())
        .contains(
            "weir:{acme}::once:an id",
            "weir:{acme}::reservation:a",
            "weir:{acme}:default:level",
            "weir:{acme}:default:reserved");
    assertThat(pttl("weir:{acme}::once:an id")).isBetween(50_000L, 60_000L);
    assertThat(pttl("weir:{acme}::reservation:a")).isBetween(60_000L, 70_000L);
    // A level that is gone has nothing to give back to.
    long level = pttl("weir:{acme}:default:level");
    assertThat(pttl("weir:{acme}:default:reserved")).isBetween(level - 100, level + 100);
    time.advanceMicros(1_500_000);
    store.granted("acme", limit, 1);
    level = pttl("weir:{acme}:default:level");
    assertThat(pttl("weir:{acme}:default:reserved")).isBetween(level - 100, level + 100);
    store.settle("acme", "a", 1);
    assertThat(pttl("weir:{acme}::reservation:a")).isBetween(110_000L, 118_500L);
    assertThat(names()).doesNotContain("weir:{acme}:default:reserved");
  }

  @Test
  void aStepThatFindsNothingDueAsksForNothingMore() {
    Limit limit = limit(1, YEAR, 10);
    store.reserve("acme", "a", Duration.ofMinutes(1), take(limit, 4));
    Object before = server().call("GET", LEVEL);
    assertThat(before).asString().startsWith("B");
    server().call("DEL", "weir:{acme}:default:reserved");
    store.step("acme", Take.peek(limit));
    assertThat(server().call("GET", LEVEL)).isEqualTo(before);
    time.advance(Duration.ofMinutes(1));
    store.step("acme", Take.peek(limit));
    assertThat(server().call("GET", LEVEL)).asString().startsWith("b");
  }

  @Test
  void countersOfWindowsCarryTheirNumbers() {
    Limit limit = new Limit("search", Set.of(), new SlidingWindow(10, Duration.ofSeconds(10)));
    store.step("acme", take(limit, 3));
    long jitter = Jitter.micros("acme", 10_000_000);
    long number = Math.floorDiv(time.epochMicros() + jitter, 10_000_000L);
    assertThat(names())
        .containsExactly("weir:{acme}:search:level", "weir:{acme}:search:window:" + number);
    assertThat(pttl("weir:{acme}:search:window:" + number)).isBetween(10_000L, 30_000L);
    store.forget("acme", "search");
    assertThat(names()).containsExactly("weir:{acme}:search:level");
  }

  @Test
  void whatIsOfNoUseAfterAChangeIsGone() {
    for (Limit from : AlgorithmContract.ten()) {
      for (Limit to : AlgorithmContract.ten()) {
        server().call("FLUSHALL");
        store.step("acme", take(from, 3));
        store.step("acme", take(to, 3));
        List<String> after = names();
        server().call("FLUSHALL");
        store.step("acme", take(to, 6));
        assertThat(after).isEqualTo(names());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-40, -20, -1, 1, 20, 40, 400})
  void theStoresClockChoosesTheWindowOfACalendar(long daysOff) {
    Limit limit = AlgorithmContract.calendar(10, CalendarUnit.MONTH);
    VirtualClock nodeTime = new VirtualClock();
    try (StoreDriver other = RedisTime.store(vertx, server(), time, nodeTime, "weir").start()) {
      // What it learned of the store's time is of no use any more.
      nodeTime.advance(Duration.ofDays(daysOff));
      if (Math.abs(daysOff) < 30) {
        assertThat(other.granted("acme", limit, 10)).isEqualTo(10);
      } else {
        // Its clock is off by more than a window; the store's word puts it right.
        other.step("acme", Take.peek(limit));
        assertThat(other.granted("acme", limit, 10)).isEqualTo(10);
      }
      assertThat(store.granted("acme", limit, 1)).isZero();
      assertThat(store.step("acme", Take.peek(limit)).get(0).used()).isEqualTo(10);
    }
  }

  private List<Object> contents() {
    return names().stream().map(name -> server().call("DUMP", name)).toList();
  }

  @Test
  void anEmptyLevelIsKeptForWhatIsAuthorizedAlone() {
    Limit limit = limit(1, YEAR, 10);
    store.step("acme", new Take(limit, 0, 3, 0, 0));
    store.step("acme", new Take(limit, 3, 0, 0, 0));
    assertThat(names()).doesNotContain(LEVEL);
    store.step("acme", take(limit, 3));
    store.step("acme", new Take(limit, 3, 0, 0, 0));
    store.step("acme", new Take(limit, 0, 1, 0, 0));
    store.step("acme", new Take(limit, 1, 0, 0, 0));
    assertThat(server().call("GET", LEVEL)).asString().startsWith("n");
    assertThat(store.step("acme", Take.peek(limit))).containsExactly(new Level(0, 0, 3));
    time.advance(Duration.ofMinutes(1));
    store.step("acme", take(limit(1e9, Duration.ofSeconds(1), 10), 1));
    assertThat(pttl(LEVEL)).isBetween(MARGIN_MILLIS, LONGER_MILLIS);
  }

  @Test
  void namesAreThoseOfTheKeyAndItsLimit() {
    store.step("a:{b}", take(limit("search", 1, YEAR, 10), 3));
    assertThat(names()).containsExactly("weir:{a%3A%7Bb%7D}:search:level");
  }

  @Test
  void aFlushedScriptIsBroughtAlong() {
    Limit limit = limit(1, YEAR, 10);
    store.step("acme", take(limit, 1));
    server().call("SCRIPT", "FLUSH");
    assertThat(store.step("acme", take(limit, 1))).containsExactly(new Level(1, 2, 2));
    assertThat(store.step("acme", take(limit, 1))).containsExactly(new Level(1, 3, 3));
  }

  @Test
  void theShippedScriptKeepsTheServersTime() {
    try (StoreDriver real = RedisTime.realTimeStore(vertx, server(), "real").start()) {
      long before = serverMicros();
      long at = real.answer("acme", take(limit(1, YEAR, 10), 1)).storeMicros();
      assertThat(at).isBetween(before, serverMicros());
    }
  }

  private long serverMicros() {
    List<?> time = (List<?>) server().call("TIME");
    return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
  }

  private long pttl(String name) {
    return (Long) server().call("PTTL", name);
  }

  private List<String> names() {
    return ((List<?>) server().call("KEYS", "weir:*"))
        .stream().map(String.class::cast).filter(name -> !name.equals(EPOCH)).sorted().toList();
  }

  // ---- a store that has lost its data

  /** All is gone, and another node was the first to find out. */
  private void lose() {
    server().call("FLUSHALL");
    server().call("SET", EPOCH, "another " + Long.MAX_VALUE / 1000, "PX", "100000000");
  }

  private static Take taking(Limit limit, long returned, long need, Answered last) {
    Level level = last.levels().get(0);
    long end = last.storeMicros() + level.consumption().leftMicros();
    Take.Told told = new Take.Told(level.used(), last.epoch());
    return new Take(limit, returned, end, 0, need, need, told);
  }

  @Test
  void theMarkOfTheEpochOutlivesAllElse() {
    store.step("acme", take(limit(1, YEAR, 100), 1));
    String mark = (String) server().call("GET", EPOCH);
    assertThat(pttl(EPOCH)).isGreaterThan(Duration.ofDays(399).toMillis());
    time.advance(Duration.ofDays(199));
    store.step("acme", take(limit(1, YEAR, 100), 1));
    assertThat(server().call("GET", EPOCH)).isEqualTo(mark);
    time.advance(Duration.ofDays(2));
    store.step("acme", take(limit(1, YEAR, 100), 1));
    assertThat((String) server().call("GET", EPOCH)).isNotEqualTo(mark);
    assertThat((String) server().call("GET", EPOCH)).startsWith(mark.split(" ", 2)[0]);
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void aStoreThatLostItsDataGoesOnFromWhatANodeWasTold(Limit limit) {
    Answered first = store.answer("acme", take(limit, 7));
    lose();
    Answered denied = store.answer("acme", taking(limit, 0, 4, first));
    assertThat(denied.epoch()).isNotEqualTo(first.epoch());
    assertThat(denied.levels())
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(0L, 7.0));
    Answered granted = store.answer("acme", taking(limit, 0, 3, denied));
    assertThat(granted.levels())
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(3L, 10.0));
    assertThat(names()).isNotEmpty().allSatisfy(name -> assertThat(pttl(name)).isPositive());
    // Another node, which was told less, or the same in the epoch before.
    assertThat(store.step("acme", taking(limit, 0, 1, first)))
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(0L, 10.0));
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void whatANodeWasToldCountsThoughItAsksForNothing(Limit limit) {
    Answered first = store.answer("acme", take(limit, 7));
    lose();
    store.answer("acme", taking(limit, 0, 0, first));
    assertThat(store.step("acme", take(limit, 4)).get(0).granted()).isZero();
    assertThat(store.used("acme", limit)).isEqualTo(7);
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void permitsGoBackOffWhatWasTold(Limit limit) {
    Answered first = store.answer("acme", take(limit, 7));
    lose();
    store.step("acme", taking(limit, 5, 0, first));
    assertThat(store.used("acme", limit)).isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#ten")
  void whatWasToldInThisEpochIsNotToldAgain(Limit limit) {
    Answered first = store.answer("acme", take(limit, 7));
    store.forget("acme", "default");
    assertThat(store.step("acme", taking(limit, 0, 10, first)).get(0).granted()).isEqualTo(10);
  }

  @Test
  void theWindowBeforeTheLossCountsInTheOneAfter() {
    Limit limit = new Limit("default", Set.of(), new SlidingWindow(10, Duration.ofSeconds(10)));
    Answered first = store.answer("acme", take(limit, 7));
    lose();
    time.advanceMicros(first.levels().get(0).consumption().leftMicros());
    assertThat(store.step("acme", taking(limit, 0, 4, first)).get(0).granted()).isZero();
    assertThat(store.step("acme", take(limit, 3)).get(0).granted()).isEqualTo(3);
    assertThat(store.step("acme", take(limit, 1)).get(0).granted()).isZero();
    time.advance(Duration.ofSeconds(10));
    assertThat(store.step("acme", take(limit, 7)).get(0).granted()).isEqualTo(7);
  }
}
