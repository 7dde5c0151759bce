package dev.weir.lease;

import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.SlidingLog;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Repeated;
import dev.weir.lease.RefillOutcome.Settled;
import dev.weir.lease.RefillOutcome.UsedOtherwise;
import dev.weir.lease.RefillOutcome.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every store does alike with reservations, and with decisions that are made once. */
interface ReservationContract {
  Duration MINUTE = Duration.ofMinutes(1);
  Duration SECOND = Duration.ofSeconds(1);
  String ACME = "acme";

  StoreDriver store();

  VirtualClock time();

  /** Ten, by each algorithm, and in such a time that a minute changes nothing of it. */
  static List<Limit> tenOfAYear() {
    Duration year = Duration.ofDays(365);
    return List.of(
        AlgorithmContract.limit(new TokenBucket(1, year, 10)),
        AlgorithmContract.sliding(10, year),
        AlgorithmContract.fixed(10, year),
        AlgorithmContract.calendar(10, CalendarUnit.YEAR),
        AlgorithmContract.log(10, year));
  }

  /** Ten in ten seconds, by each algorithm with windows. */
  static List<Limit> windowsOfTenSeconds() {
    return AlgorithmContract.ten().stream()
        .filter(limit -> limit.algorithm().windowed())
        .filter(limit -> limit.algorithm().windowSeconds() == 10)
        .toList();
  }

  private long reserve(Limit limit, String id, long cost) {
    return store().reserve(ACME, id, MINUTE, take(limit, cost)).get(0).granted();
  }

  private double counted(Limit limit) {
    Level level = store().step(ACME, Take.peek(limit)).get(0);
    return Math.rint(limit.algorithm().levelAfter(level.consumption(), 0) * 1000) / 1000;
  }

  private Settled settle(String id, long spent) {
    return store().settle(ACME, id, spent);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whatIsReservedIsUsedAtOnce(Limit limit) {
    assertThat(reserve(limit, "a", 7)).isEqualTo(7);
    assertThat(counted(limit)).isEqualTo(7);
    assertThat(reserve(limit, "b", 4)).isZero();
    assertThat(settle("b", 0).verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(store().granted(ACME, limit, 4)).isZero();
    assertThat(store().granted(ACME, limit, 3)).isEqualTo(3);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whatIsCommittedStaysUsedAndTheRestGoesBack(Limit limit) {
    reserve(limit, "a", 7);
    time().advance(SECOND);
    assertThat(settle("a", 4)).isEqualTo(new Settled(Verdict.SETTLED, 7));
    assertThat(counted(limit)).isEqualTo(4);
    time().advance(MINUTE);
    assertThat(counted(limit)).isEqualTo(4);
    assertThat(store().granted(ACME, limit, 7)).isZero();
    assertThat(store().granted(ACME, limit, 6)).isEqualTo(6);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whatIsReleasedGoesBack(Limit limit) {
    store().granted(ACME, limit, 3);
    reserve(limit, "a", 7);
    time().advance(SECOND);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(limit)).isEqualTo(3);
    assertThat(store().granted(ACME, limit, 7)).isEqualTo(7);
  }

  @Test
  default void whatWasReservedBeforeAClockSteppedBackGoesBackForAsLongAsItCounts() {
    Limit limit = AlgorithmContract.sliding(10, MINUTE);
    long left = store().step(ACME, Take.peek(limit)).get(0).consumption().leftMicros();
    time().advanceMicros(left + 1_000_000);
    Duration life = MINUTE.multipliedBy(5);
    store().reserve(ACME, "a", life, take(limit, 6));
    time().advance(SECOND.multipliedBy(-2));
    store().reserve(ACME, "b", life, take(limit, 1));
    time().advance(Duration.ofSeconds(76));
    assertThat(counted(limit)).isEqualTo(4);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(limit)).isZero();
  }

  @Test
  default void aThousandThatAreOverGoBackAtATime() {
    Limit limit = AlgorithmContract.limit(new TokenBucket(1, Duration.ofDays(365), 2000));
    for (int i = 0; i < 1001; i++) {
      reserve(limit, "r" + (1000 + i), 1);
    }
    assertThat(counted(limit)).isEqualTo(1001);
    time().advance(MINUTE);
    assertThat(counted(limit)).isEqualTo(1);
    assertThat(counted(limit)).isZero();
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void itIsSettledOnce(Limit limit) {
    reserve(limit, "a", 5);
    reserve(limit, "b", 3);
    assertThat(settle("a", 2).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(settle("a", 2)).isEqualTo(new Settled(Verdict.BEFORE, 5));
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.BEFORE);
    assertThat(counted(limit)).isEqualTo(5);
    time().advance(MINUTE);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.BEFORE);
    assertThat(counted(limit)).isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void moreThanIsReservedCannotBeCommitted(Limit limit) {
    reserve(limit, "a", 5);
    assertThat(settle("a", 6)).isEqualTo(new Settled(Verdict.TOO_MUCH, 5));
    assertThat(counted(limit)).isEqualTo(5);
    assertThat(settle("a", 5).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(limit)).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whenItsTimeIsOverItGoesBackByItself(Limit limit) {
    reserve(limit, "a", 7);
    time().advance(SECOND);
    reserve(limit, "b", 2);
    time().advance(MINUTE.minusSeconds(1).minusMillis(1));
    assertThat(counted(limit)).isEqualTo(9);
    assertThat(reserve(limit, "c", 2)).isZero();
    time().advance(Duration.ofMillis(1));
    assertThat(counted(limit)).isEqualTo(2);
    assertThat(settle("a", 7).verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(store().granted(ACME, limit, 8)).isEqualTo(8);
    time().advance(Duration.ofDays(2));
    assertThat(counted(limit)).isBetween(7.9, 8.0);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void allOfItIsCommittedWithoutSayingHowMuch(Limit limit) {
    reserve(limit, "a", 7);
    assertThat(settle("a", Purpose.Settle.ALL)).isEqualTo(new Settled(Verdict.SETTLED, 7));
    time().advance(MINUTE);
    assertThat(counted(limit)).isEqualTo(7);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void aLevelTellsWhetherSomeOfItIsReserved(Limit limit) {
    assertThat(store().step(ACME, take(limit, 1)).get(0).reserved()).isFalse();
    assertThat(store().reserve(ACME, "a", MINUTE, take(limit, 2)).get(0).reserved()).isTrue();
    assertThat(store().reserve(ACME, "b", SECOND, take(limit, 2)).get(0).reserved()).isTrue();
    assertThat(store().step(ACME, take(limit, 9)).get(0).reserved()).isTrue();
    settle("a", 1);
    assertThat(store().step(ACME, Take.peek(limit)).get(0).reserved()).isTrue();
    time().advance(SECOND);
    assertThat(store().step(ACME, Take.peek(limit)).get(0).reserved()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whatIsDeniedReservesNothing(Limit limit) {
    Limit other = new Limit("other", Set.of(), limit.algorithm());
    store().granted(ACME, other, 8);
    List<Level> levels = store().reserve(ACME, "a", MINUTE, take(limit, 3), take(other, 3));
    assertThat(levels)
        .extracting(Level::granted, Level::used)
        .containsExactly(tuple(0L, 0.0), tuple(0L, 8.0));
    assertThat(settle("a", 0)).isEqualTo(new Settled(Verdict.UNKNOWN, 0));
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void allLimitsAreHeldAndGoBackTogether(Limit limit) {
    for (Limit each : tenOfAYear()) {
      Limit other = new Limit("other", Set.of(), each.algorithm());
      store().forget(ACME, "default", "other");
      time().advance(MINUTE.multipliedBy(3));
      store().reserve(ACME, "a", MINUTE, take(limit, 6), take(other, 6));
      store().reserve(ACME, "b", SECOND, take(other, 2), take(limit, 2));
      assertThat(List.of(counted(limit), counted(other))).containsExactly(8.0, 8.0);
      time().advance(SECOND);
      assertThat(settle("a", 1).verdict()).isEqualTo(Verdict.SETTLED);
      assertThat(List.of(counted(limit), counted(other))).containsExactly(1.0, 1.0);
    }
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void reservationsOfOtherKeysAreOthers(Limit limit) {
    reserve(limit, "a", 5);
    assertThat(store().settle("other", "a", 0).verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(counted(limit)).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void forgettingForgetsReservationsToo(Limit limit) {
    reserve(limit, "a", 5);
    store().forget(ACME, "default");
    store().granted(ACME, limit, 8);
    reserve(limit, "b", 1);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(limit)).isEqualTo(9);
    time().advance(MINUTE);
    assertThat(counted(limit)).isEqualTo(8);
  }

  @ParameterizedTest
  @MethodSource("dev.weir.lease.AlgorithmContract#pairsOfTen")
  default void aReservationThatOutlivesItsAlgorithmStaysUsedAndMintsNothing(Limit from, Limit to) {
    store().reserve(ACME, "a", MINUTE, take(from, 4));
    store().granted(ACME, to, 3);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(to)).isEqualTo(from.equals(to) ? 3 : 7);
    store().reserve(ACME, "b", SECOND, take(to, 2));
    time().advance(SECOND);
    // Less by what leaks in a second, or by all when a window has ended.
    assertThat(counted(to)).isLessThanOrEqualTo(7);
  }

  // ---- buckets: what has leaked does not go back

  @Test
  default void aBucketGetsBackWhatHasNotLeakedOfIt() {
    Limit limit = StoreDriver.limit(1, SECOND, 100);
    store().granted(ACME, limit, 20);
    reserve(limit, "a", 10);
    time().advance(Duration.ofSeconds(4));
    assertThat(counted(limit)).isEqualTo(26);
    settle("a", 0);
    // At once it is what it had been: 20 less 4, and not less.
    assertThat(counted(limit)).isEqualTo(16);
  }

  @Test
  default void aBucketThatRanEmptyBetweenIsNotRefilledTwice() {
    Limit limit = StoreDriver.limit(1, SECOND, 10);
    reserve(limit, "a", 5);
    time().advance(Duration.ofSeconds(5));
    store().granted(ACME, limit, 10);
    settle("a", 0);
    assertThat(counted(limit)).isEqualTo(10);
    time().advance(Duration.ofSeconds(20));
    reserve(limit, "b", 5);
    time().advance(Duration.ofSeconds(2));
    store().granted(ACME, limit, 7);
    settle("b", 0);
    assertThat(counted(limit)).isEqualTo(7);
  }

  @Test
  default void aFasterRateBetweenLetsLessGoBack() {
    Limit slow = StoreDriver.limit(1, MINUTE, 100);
    Limit fast = StoreDriver.limit(1, SECOND, 100);
    reserve(slow, "a", 30);
    time().advance(Duration.ofSeconds(20));
    assertThat(store().granted(ACME, fast, 50)).isEqualTo(50);
    store().granted(ACME, slow, 1);
    assertThat(counted(slow)).isEqualTo(61);
    settle("a", 0);
    // 20 have leaked at the fast rate.
    assertThat(counted(slow)).isEqualTo(51);
  }

  @Test
  default void aLevelThatGotPermitsBackIsCarriedAtItsOwnRate() {
    Limit limit = StoreDriver.limit(1, SECOND, 10);
    store().granted(ACME, limit, 4);
    reserve(limit, "a", 6);
    settle("a", 0);
    time().advance(Duration.ofSeconds(2));
    assertThat(counted(AlgorithmContract.fixed(10, MINUTE))).isEqualTo(2);
  }

  // ---- windows

  @ParameterizedTest
  @MethodSource("windowsOfTenSeconds")
  default void whatWasReservedInAWindowThatIsOverDoesNotGoBackToTheNext(Limit limit) {
    time()
        .advanceMicros(
            store().step(ACME, Take.peek(limit)).get(0).consumption().leftMicros() + 1_000_000);
    reserve(limit, "a", 8);
    time().advance(Duration.ofSeconds(10));
    boolean fixed = limit.algorithm() instanceof FixedWindow;
    boolean log = limit.algorithm() instanceof SlidingLog;
    assertThat(counted(limit)).isEqualTo(fixed || log ? 0 : 7);
    store().granted(ACME, limit, 3);
    settle("a", 0);
    assertThat(counted(limit)).isEqualTo(3);
    time().advance(Duration.ofSeconds(20));
    assertThat(counted(limit)).isZero();
  }

  @ParameterizedTest
  @MethodSource("windowsOfTenSeconds")
  default void whatExpiresInALaterWindowDoesNotGoBackToIt(Limit limit) {
    reserve(limit, "a", 8);
    time().advance(Duration.ofSeconds(50));
    store().granted(ACME, limit, 9);
    time().advance(Duration.ofSeconds(10));
    assertThat(counted(limit)).isBetween(0.0, 9.0);
    Level level = store().step(ACME, Take.peek(limit)).get(0);
    assertThat(level.used() + level.consumption().previous()).isIn(0.0, 9.0);
  }

  @Test
  default void whatWasReservedFirstDoesNotLetAWindowSlideSooner() {
    Limit limit = AlgorithmContract.sliding(3, SECOND);
    time().advanceMicros(store().step(ACME, Take.peek(limit)).get(0).consumption().leftMicros());
    reserve(limit, "a", 1);
    settle("a", 0);
    time().advance(Duration.ofMillis(990));
    assertThat(store().granted(ACME, limit, 3)).isEqualTo(3);
    long admitted = 3;
    for (int millis = 0; millis < 990; millis += 10) {
      time().advance(Duration.ofMillis(10));
      admitted += store().granted(ACME, limit, 1);
    }
    assertThat(admitted).isLessThanOrEqualTo(4);
  }

  // ---- once

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void whatIsAskedOnceIsChargedOnce(Limit limit) {
    Purpose once = once("id", "4 of default");
    Answered first = (Answered) store().step(ACME, once, take(limit, 4));
    time().advance(Duration.ofSeconds(30));
    store().granted(ACME, limit, 1);
    assertThat(store().step(ACME, once, take(limit, 4)))
        .isEqualTo(new Repeated(first, Optional.empty()));
    assertThat(counted(limit)).isEqualTo(5);
    time().advance(Duration.ofSeconds(30));
    assertThat(store().step(ACME, once, take(limit, 4))).isInstanceOf(Answered.class);
    assertThat(counted(limit)).isEqualTo(9);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void aDenialIsRepeatedToo(Limit limit) {
    store().granted(ACME, limit, 8);
    Purpose once = once("id", "4");
    Answered first = (Answered) store().step(ACME, once, take(limit, 4));
    assertThat(first.levels().get(0).granted()).isZero();
    store().forget(ACME, "default");
    assertThat(store().step(ACME, once, take(limit, 4)))
        .isEqualTo(new Repeated(first, Optional.empty()));
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void anotherRequestByTheSameIdMovesNothing(Limit limit) {
    store().step(ACME, once("id", "4"), take(limit, 4));
    assertThat(store().step(ACME, once("id", "3"), take(limit, 3))).isEqualTo(new UsedOtherwise());
    assertThat(store().step("other", once("id", "3"), take(limit, 3))).isInstanceOf(Answered.class);
    assertThat(store().step(ACME, once("ID", "3"), take(limit, 3))).isInstanceOf(Answered.class);
    assertThat(counted(limit)).isEqualTo(7);
  }

  @ParameterizedTest
  @MethodSource("tenOfAYear")
  default void aReservationThatIsRepeatedIsTheFirst(Limit limit) {
    Limit later = new Limit("later", Set.of(), limit.algorithm());
    Answered first = (Answered) store().step(ACME, reserveOnce("a"), take(limit, 4));
    Repeated again =
        (Repeated) store().step(ACME, reserveOnce("b"), take(later, 4), take(limit, 4));
    assertThat(again.reservation()).contains("a");
    assertThat(again.first().levels().get(1)).isEqualTo(first.levels().get(0));
    assertThat(again.first().levels().get(0).granted()).isZero();
    assertThat(settle("b", 0).verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(settle("a", 0).verdict()).isEqualTo(Verdict.SETTLED);
    assertThat(counted(limit)).isZero();
  }

  @Test
  default void stepsOfAllKindsTravelTogether() {
    Limit limit = StoreDriver.limit(1, Duration.ofDays(365), 10);
    Refill lease = new Refill(ACME, List.of(take(limit, 1)));
    Refill first = new Refill(ACME, List.of(take(limit, 2)), reserveOnce("a"));
    Refill other = new Refill(ACME, List.of(take(limit, 3)), once("once", "else"));
    Refill settle = new Refill(ACME, List.of(), new Purpose.Settle("a", 0));
    List<RefillOutcome> outcomes =
        store().refill(List.of(lease, first, other, first, settle, lease, settle, lease));
    assertThat(outcomes.get(3)).isInstanceOf(Repeated.class);
    assertThat(outcomes.get(2)).isEqualTo(new UsedOtherwise());
    assertThat(outcomes.get(4)).isEqualTo(new Settled(Verdict.SETTLED, 2));
    assertThat(outcomes.get(6)).isEqualTo(new Settled(Verdict.BEFORE, 2));
    assertThat(((Answered) outcomes.get(7)).levels().get(0).used()).isEqualTo(3);
  }

  private static Purpose once(String id, String request) {
    return new Purpose.Decide(Optional.empty(), Optional.of(new Purpose.Once(id, request)));
  }

  private static Purpose reserveOnce(String id) {
    return new Purpose.Decide(
        Optional.of(new Purpose.Reservation(id, MINUTE)),
        Optional.of(new Purpose.Once("once", "reserve")));
  }
}
