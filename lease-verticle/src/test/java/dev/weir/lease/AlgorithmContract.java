package dev.weir.lease;

import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.config.Consumption.Came;
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
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What every store does alike with each algorithm, and from one to another. */
interface AlgorithmContract {
  Duration TEN_SECONDS = Duration.ofSeconds(10);
  ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  String ACME = "acme";

  StoreDriver store();

  VirtualClock time();

  static Limit limit(Algorithm algorithm) {
    return new Limit("default", Set.of(), algorithm);
  }

  static Limit sliding(long limit, Duration window) {
    return limit(new SlidingWindow(limit, window));
  }

  static Limit fixed(long limit, Duration window) {
    return limit(new FixedWindow(limit, new Every(window)));
  }

  static Limit log(long limit, Duration window) {
    return limit(new SlidingLog(limit, window));
  }

  static Limit calendar(long limit, CalendarUnit unit) {
    return limit(new FixedWindow(limit, new Calendar(unit, BERLIN)));
  }

  /** Ten in ten seconds, or in a calendar's window, by each algorithm. */
  static List<Limit> ten() {
    return List.of(
        limit(new TokenBucket(10, TEN_SECONDS, 10)),
        sliding(10, TEN_SECONDS),
        fixed(10, TEN_SECONDS),
        calendar(10, CalendarUnit.DAY),
        log(10, TEN_SECONDS));
  }

  static Stream<Arguments> pairsOfTen() {
    return ten().stream().flatMap(a -> ten().stream().map(b -> Arguments.of(a, b)));
  }

  private Level look(Limit limit) {
    return store().step(ACME, Take.peek(limit)).get(0);
  }

  private Level step(Limit limit, long cost) {
    return store().step(ACME, take(limit, cost)).get(0);
  }

  /** Moves to the moment at which the window under way ends. */
  private void toEndOf(Limit limit) {
    time().advanceMicros(look(limit).consumption().leftMicros());
  }

  private void goTo(String berlin) {
    Instant instant = LocalDateTime.parse(berlin).atZone(BERLIN).toInstant();
    time().advanceMicros(instant.toEpochMilli() * 1000 - time().epochMicros());
  }

  // ---- all of them

  @ParameterizedTest
  @MethodSource("ten")
  default void theQuotaIsGrantedAndNoMore(Limit limit) {
    assertThat(step(limit, 11).granted()).isZero();
    assertThat(step(limit, 4)).extracting(Level::granted, Level::used).containsExactly(4L, 4.0);
    assertThat(step(limit, 7)).extracting(Level::granted, Level::used).containsExactly(0L, 4.0);
    assertThat(step(limit, 6))
        .extracting(Level::granted, Level::used, Level::authorized)
        .containsExactly(6L, 10.0, 10L);
    assertThat(step(limit, 1).granted()).isZero();
    assertThat(store().granted("other", limit, 10)).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void aPartialGrantIsWhatIsFree(Limit limit) {
    step(limit, 4);
    assertThat(store().step(ACME, new Take(limit, 0, 0, 7, 50)).get(0).granted()).isZero();
    assertThat(store().step(ACME, new Take(limit, 0, 0, 2, 50)).get(0).granted()).isEqualTo(6);
    assertThat(store().step(ACME, new Take(limit, 0, 0, 0, 50)).get(0).granted()).isZero();
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void waitingUntilItFitsAdmitsItAndNoSooner(Limit limit) {
    for (long cost : new long[] {1, 5, 10}) {
      store().forget(ACME, "default");
      step(limit, 3);
      time().advanceMicros(1_234_567);
      step(limit, 6);
      time().advanceMicros(765_433);
      step(limit, 1);
      time().advanceMicros(1_000_001);
      Consumption told = step(limit, cost).consumption();
      long wait = limit.algorithm().microsUntilFits(told, 0, cost);
      if (wait == 0) {
        // Nothing of it is used any more, by a window that has just ended.
        continue;
      }
      time().advanceMicros(wait - 1);
      assertThat(step(limit, cost).granted()).as("%d a moment too soon", cost).isZero();
      time().advanceMicros(1);
      assertThat(step(limit, cost).granted()).as("%d after %d us", cost, wait).isEqualTo(cost);
    }
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void idlingForAYearYieldsOneQuota(Limit limit) {
    step(limit, 7);
    time().advance(Duration.ofDays(365));
    assertThat(step(limit, 11).granted()).isZero();
    assertThat(step(limit, 10).granted()).isEqualTo(10);
    assertThat(step(limit, 1).granted()).isZero();
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void aChargeMayExceedTheQuota(Limit limit) {
    assertThat(store().step(ACME, new Take(limit, 0, 25, 0, 0)).get(0).used()).isEqualTo(25);
    assertThat(step(limit, 1).granted()).isZero();
    assertThat(look(limit).used()).isEqualTo(25);
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void forgettingGivesTheQuotaBack(Limit limit) {
    step(limit, 10);
    store().forget(ACME, "default");
    assertThat(look(limit).used()).isZero();
    assertThat(step(limit, 10).granted()).isEqualTo(10);
    assertThat(step(limit, 1).granted()).isZero();
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void aPermitOfNowGoesBackAndNeverMoreThanWasUsed(Limit limit) {
    Answered grant = store().answer(ACME, take(limit, 4));
    long end = grant.storeMicros() + grant.levels().get(0).consumption().leftMicros();
    step(limit, 0);
    assertThat(store().step(ACME, new Take(limit, 3, end, 0, 0, 0)).get(0).used()).isEqualTo(1);
    assertThat(store().step(ACME, new Take(limit, 100, end, 0, 0, 0)).get(0).used()).isZero();
    assertThat(step(limit, 11).granted()).isZero();
    assertThat(step(limit, 10).granted()).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("ten")
  default void aClockThatStepsBackLocksNobodyOut(Limit limit) {
    for (int seconds : new int[] {9, 100, 1_000_000}) {
      store().forget(ACME, "default");
      goTo("2024-05-05T12:00:00");
      step(limit, 10);
      time().advance(Duration.ofSeconds(-seconds));
      assertThat(step(limit, 11).granted()).isZero();
      Level level = step(limit, 10);
      if (level.granted() == 0) {
        boolean fixed = limit.algorithm() instanceof FixedWindow;
        time().advanceMicros(fixed ? level.consumption().leftMicros() : 20_000_000);
        level = step(limit, 10);
      }
      assertThat(level.granted()).as("%d s back", seconds).isEqualTo(10);
    }
  }

  @ParameterizedTest
  @MethodSource("pairsOfTen")
  default void limitsOfDifferentAlgorithmsAreTakenAllOrNone(Limit one, Limit two) {
    Limit other = new Limit("other", Set.of(), two.algorithm());
    store().step(ACME, take(other, 4));
    assertThat(store().step(ACME, take(one, 7), take(other, 7)))
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(0L, 0.0), tuple(0L, 4.0));
    assertThat(store().step(ACME, take(other, 6), take(one, 6)))
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(6L, 10.0), tuple(6L, 6.0));
  }

  @Test
  default void aBatchMixesAlgorithms() {
    List<Refill> batch = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      for (Limit limit : ten()) {
        Limit named = new Limit("limit" + ten().indexOf(limit), Set.of(), limit.algorithm());
        batch.add(new Refill("key" + i, List.of(take(named, 3), take(limit, i % 12))));
      }
    }
    List<RefillOutcome> outcomes = store().refill(batch);
    assertThat(outcomes).hasSameSizeAs(batch).allMatch(o -> ((Answered) o).levels().size() == 2);
  }

  // ---- sliding windows

  @Test
  default void aSlidingWindowOfThreeAdmitsFourASecondAtMostAndThreeInTheLongRun() {
    Limit limit = sliding(3, Duration.ofSeconds(1));
    List<Long> admitted = new ArrayList<>();
    for (int poll = 0; poll < 3000; poll++) {
      if (step(limit, 1).granted() == 1) {
        admitted.add(time().epochMicros());
      }
      time().advanceMicros(10_000);
    }
    for (int i = 4; i < admitted.size(); i++) {
      assertThat(admitted.get(i) - admitted.get(i - 4)).isGreaterThanOrEqualTo(1_000_000);
    }
    assertThat(admitted).hasSizeBetween(87, 93);
  }

  @Test
  default void theWindowBeforeCountsForItsOverlap() {
    Limit limit = sliding(10, TEN_SECONDS);
    toEndOf(limit);
    step(limit, 8);
    time().advance(Duration.ofSeconds(2));
    step(limit, 1);
    toEndOf(limit);
    time().advance(Duration.ofSeconds(5));
    step(limit, 1);
    time().advance(Duration.ofSeconds(1));
    // Nine in the ten seconds from sixteen seconds ago on: six were gone by six seconds ago.
    Level level = look(limit);
    assertThat(level.consumption())
        .isEqualTo(
            new Consumption(
                1, 9, 4_000_000, new Came(1_000_000, 1_000_000), new Came(16_000_000, 14_000_000)));
    assertThat(limit.algorithm().levelAfter(level.consumption(), 0)).isEqualTo(1 + 3);
    assertThat(step(limit, 7).granted()).isZero();
    assertThat(step(limit, 6).granted()).isEqualTo(6);
  }

  @Test
  default void permitsGoBackToTheWindowThatTheyWereGrantedIn() {
    Limit limit = sliding(10, TEN_SECONDS);
    Answered grant = store().answer(ACME, take(limit, 8));
    long end = grant.storeMicros() + grant.levels().get(0).consumption().leftMicros();
    toEndOf(limit);
    step(limit, 1);
    store().step(ACME, new Take(limit, 6, end, 0, 0, 0));
    assertThat(look(limit)).satisfies(counts(1, 2));
    store().step(ACME, new Take(limit, 6, end, 0, 0, 0));
    assertThat(look(limit)).satisfies(counts(1, 0));
    toEndOf(limit);
    store().step(ACME, new Take(limit, 6, end, 0, 0, 0));
    assertThat(look(limit)).satisfies(counts(0, 1));
  }

  private static ThrowingConsumer<Level> counts(double used, double previous) {
    return level ->
        assertThat(level.consumption())
            .extracting(Consumption::used, Consumption::previous)
            .containsExactly(used, previous);
  }

  // ---- fixed windows

  @Test
  default void aFixedWindowStartsOver() {
    Limit limit = fixed(10, TEN_SECONDS);
    Answered grant = store().answer(ACME, take(limit, 10));
    long left = grant.levels().get(0).consumption().leftMicros();
    assertThat(left).isBetween(1L, 10_000_000L);
    time().advanceMicros(left - 1);
    assertThat(step(limit, 1).granted()).isZero();
    time().advanceMicros(1);
    assertThat(step(limit, 3).granted()).isEqualTo(3);
    store().step(ACME, new Take(limit, 10, grant.storeMicros() + left, 0, 0, 0));
    assertThat(look(limit).used()).isEqualTo(3);
  }

  @Test
  default void windowsOfKeysEndAtDifferentTimesAndThoseOfCalendarsAtTheSame() {
    List<String> keys = Stream.iterate(0, i -> i + 1).limit(20).map(i -> "key" + i).toList();
    assertThat(ends(keys, fixed(1, TEN_SECONDS))).hasSizeGreaterThan(15);
    assertThat(ends(keys, sliding(1, TEN_SECONDS))).hasSizeGreaterThan(15);
    assertThat(ends(keys, calendar(1, CalendarUnit.MONTH))).hasSize(1);
  }

  private Set<Long> ends(List<String> keys, Limit limit) {
    return keys.stream()
        .map(key -> store().step(key, Take.peek(limit)).get(0).consumption().leftMicros())
        .collect(Collectors.toSet());
  }

  static Stream<Arguments> calendars() {
    return Stream.of(
        Arguments.of(CalendarUnit.MONTH, "2024-01-31T23:59:59", "2024-02-01T00:00:00", 1),
        Arguments.of(CalendarUnit.MONTH, "2024-02-28T12:00:00", "2024-03-01T00:00:00", 36 * 3600),
        Arguments.of(CalendarUnit.MONTH, "2023-02-28T12:00:00", "2023-03-01T00:00:00", 12 * 3600),
        Arguments.of(CalendarUnit.DAY, "2024-02-28T00:00:00", "2024-02-29T00:00:00", 24 * 3600),
        Arguments.of(CalendarUnit.DAY, "2024-03-31T00:00:00", "2024-04-01T00:00:00", 23 * 3600),
        Arguments.of(CalendarUnit.DAY, "2024-10-27T00:00:00", "2024-10-28T00:00:00", 25 * 3600),
        Arguments.of(
            CalendarUnit.YEAR, "2024-01-01T00:00:00", "2025-01-01T00:00:00", 366 * 24 * 3600),
        Arguments.of(
            CalendarUnit.YEAR, "2025-01-01T00:00:00", "2026-01-01T00:00:00", 365 * 24 * 3600));
  }

  @ParameterizedTest
  @MethodSource("calendars")
  default void aCalendarsWindowEndsWhenPeopleSaySo(
      CalendarUnit unit, String from, String to, int seconds) {
    Limit limit = calendar(10, unit);
    goTo(from);
    assertThat(step(limit, 10).consumption().leftMicros()).isEqualTo(seconds * 1_000_000L);
    goTo(to);
    time().advanceMicros(-1);
    assertThat(step(limit, 1).granted()).isZero();
    time().advanceMicros(1);
    assertThat(step(limit, 10).granted()).isEqualTo(10);
  }

  // ---- logs

  @Test
  default void onePerTenSecondsPolledAtFiveNineAndTenPointOne() {
    for (Limit limit : List.of(log(1, TEN_SECONDS), StoreDriver.limit(1, TEN_SECONDS, 1))) {
      store().forget(ACME, "default");
      List<Long> granted = new ArrayList<>();
      for (long millis : new long[] {0, 5000, 4000, 1100}) {
        time().advance(Duration.ofMillis(millis));
        granted.add(step(limit, 1).granted());
      }
      assertThat(granted).containsExactly(1L, 0L, 0L, 1L);
    }
  }

  @Test
  default void aLogForgetsEachRequestAWindowLater() {
    Limit limit = log(10, TEN_SECONDS);
    for (int i = 0; i < 10; i++) {
      step(limit, 1);
      time().advance(Duration.ofSeconds(1));
    }
    // The first was ten seconds ago, the second nine.
    assertThat(look(limit).used()).isEqualTo(9);
    assertThat(step(limit, 4).consumption()).isEqualTo(new Consumption(9, 4, 3_000_000));
    assertThat(step(limit, 1).granted()).isEqualTo(1);
    assertThat(step(limit, 1).consumption()).isEqualTo(new Consumption(10, 1, 1_000_000));
  }

  @Test
  default void whatGoesBackToALogLeavesTheRestInItsPlace() {
    Limit limit = log(10, TEN_SECONDS);
    step(limit, 3);
    time().advance(Duration.ofSeconds(1));
    long at = store().answer(ACME, take(limit, 4)).storeMicros();
    time().advance(Duration.ofSeconds(1));
    step(limit, 3);
    assertThat(store().step(ACME, new Take(limit, 3, at, 0, 0, 0)).get(0).used()).isEqualTo(7);
    assertThat(store().step(ACME, new Take(limit, 3, at + 1, 0, 0, 0)).get(0).used()).isEqualTo(7);
    assertThat(step(limit, 7).consumption()).isEqualTo(new Consumption(7, 7, 9_000_000));
    assertThat(step(limit, 8).consumption()).isEqualTo(new Consumption(7, 8, 10_000_000));
    time().advance(Duration.ofSeconds(9));
    assertThat(look(limit).used()).isEqualTo(3);
    assertThat(store().step(ACME, new Take(limit, 3, at, 0, 0, 0)).get(0).used()).isEqualTo(3);
  }

  @Test
  default void aLogOfATrillionKeepsCountingToTheUnit() {
    long trillion = 1_000_000_000_000L;
    Limit limit = log(trillion, Duration.ofMillis(1));
    for (int i = 0; i < 5000; i++) {
      assertThat(step(limit, trillion - 1).granted()).isEqualTo(trillion - 1);
      if (i % 1000 == 0) {
        assertThat(step(limit, 2).granted()).isZero();
        assertThat(step(limit, 1).granted()).isEqualTo(1);
      }
      time().advanceMicros(1000);
    }
  }

  // ---- from numbers to numbers, and from algorithm to algorithm

  @ParameterizedTest
  @MethodSource("ten")
  default void numbersUpAndDownForgetNothing(Limit limit) {
    step(limit, 9);
    assertThat(step(withQuota(limit, 5), 1).granted()).isZero();
    assertThat(look(limit).used()).isEqualTo(9);
    assertThat(step(withQuota(limit, 20), 12).granted()).isZero();
    assertThat(step(withQuota(limit, 20), 11).granted()).isEqualTo(11);
  }

  static Limit withQuota(Limit limit, long quota) {
    Algorithm algorithm = limit.algorithm();
    if (algorithm instanceof TokenBucket bucket) {
      return limit(new TokenBucket(bucket.rate(), bucket.period(), quota));
    } else if (algorithm instanceof SlidingWindow window) {
      return limit(new SlidingWindow(quota, window.window()));
    } else if (algorithm instanceof FixedWindow window) {
      return limit(new FixedWindow(quota, window.period()));
    }
    return limit(new SlidingLog(quota, ((SlidingLog) algorithm).window()));
  }

  @ParameterizedTest
  @MethodSource("pairsOfTen")
  default void whatCountsIsCarriedFromAlgorithmToAlgorithm(Limit from, Limit to) {
    step(from, 6);
    assertThat(look(to).used()).isEqualTo(6);
    assertThat(look(from).used()).isEqualTo(6);
    assertThat(step(to, 5).granted()).isZero();
    assertThat(step(to, 2)).extracting(Level::granted, Level::used).containsExactly(2L, 8.0);
    assertThat(step(from, 3).granted()).isZero();
    assertThat(step(from, 2)).extracting(Level::granted, Level::used).containsExactly(2L, 10.0);
    store().forget(ACME, "default");
    assertThat(step(to, 10).granted()).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("pairsOfTen")
  default void whatIsCarriedLocksNobodyOutForLongerThanTheNewWindow(Limit from, Limit to) {
    store().step(ACME, new Take(from, 0, 1_000, 0, 0));
    assertThat(step(to, 1).granted()).isZero();
    boolean fixed = to.algorithm() instanceof FixedWindow;
    long wait = fixed ? look(to).consumption().leftMicros() : 10_000_000;
    // Asking in between must not make it later.
    for (int part = 0; part < 7; part++) {
      time().advanceMicros(wait / 8);
      step(to, 10);
    }
    time().advanceMicros(wait - wait / 8 * 7);
    boolean own = from.equals(to) && !fixed && !(to.algorithm() instanceof SlidingLog);
    assertThat(step(to, 1).granted()).isEqualTo(own ? 0 : 1);
  }

  @Test
  default void aLevelThatIsCarriedHasLeakedAtItsOwnRate() {
    step(limit(new TokenBucket(1, Duration.ofSeconds(1), 10)), 10);
    time().advance(Duration.ofSeconds(4));
    assertThat(look(fixed(100, Duration.ofHours(1))).used()).isEqualTo(6);
    time().advance(Duration.ofSeconds(6));
    assertThat(look(fixed(100, Duration.ofHours(1))).used()).isZero();
  }

  @Test
  default void aWindowOfAnotherLengthStartsWithWhatCounts() {
    for (Limit former : List.of(sliding(10, TEN_SECONDS), fixed(10, TEN_SECONDS))) {
      store().forget(ACME, "default");
      toEndOf(former);
      step(former, 8);
      boolean slides = former.algorithm() instanceof SlidingWindow;
      Limit longer = slides ? sliding(10, Duration.ofHours(1)) : fixed(10, Duration.ofHours(1));
      assertThat(step(longer, 3).used()).isEqualTo(8);
      time().advance(TEN_SECONDS);
      assertThat(step(longer, 3).granted()).isZero();
      assertThat(step(longer, 2).granted()).isEqualTo(2);
    }
  }

  @Test
  default void aLongerLogStillKnowsItsRequests() {
    step(log(10, TEN_SECONDS), 8);
    time().advance(Duration.ofSeconds(5));
    Limit longer = log(10, Duration.ofMinutes(1));
    assertThat(step(longer, 3).consumption()).isEqualTo(new Consumption(8, 3, 55_000_000));
    time().advance(Duration.ofSeconds(50));
    assertThat(look(longer).used()).isEqualTo(8);
  }

  @ParameterizedTest
  @MethodSource("pairsOfTen")
  default void permitsOfTheFormerAlgorithmGoBackAtTheChange(Limit from, Limit to) {
    if (from.algorithm() instanceof SlidingLog) {
      return; // It leases none.
    }
    Answered grant = store().answer(ACME, take(from, 9));
    long end = grant.storeMicros() + grant.levels().get(0).consumption().leftMicros();
    boolean windowed = from.algorithm().windowed();
    Take back = new Take(to, 5, windowed ? end : 0, 0, 6, 6);
    assertThat(store().step(ACME, back))
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(6L, 10.0));
  }
}
