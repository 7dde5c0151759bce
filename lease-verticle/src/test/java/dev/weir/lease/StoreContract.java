package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.TokenBucket;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every store does alike, on virtual time. */
abstract class StoreContract implements AlgorithmContract, ReservationContract {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration YEAR = Duration.ofDays(365);
  private static final long TRILLION = 1_000_000_000_000L;
  private static final String KEY = "acme";

  static Vertx vertx;

  final VirtualClock time = new VirtualClock();
  StoreDriver store;

  /** A store of its own, not started, whose time is {@link #time}. */
  abstract StoreDriver open(String prefix);

  @Override
  public StoreDriver store() {
    return store;
  }

  @Override
  public VirtualClock time() {
    return time;
  }

  @BeforeAll
  static void openVertx() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void closeVertx() {
    StoreDriver.await(vertx.close());
  }

  @BeforeEach
  void openStore() {
    store = open("weir").start();
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  @Test
  void capacityOneAdmitsOneOfThousandAtOneInstant() {
    assertThat(admitted(limit(1, SECOND, 1), 1000)).isEqualTo(1);
  }

  @Test
  void rateAboveCapacityAdmitsNoMoreThanTheCapacityAtOneInstant() {
    assertThat(admitted(limit(3, SECOND, 1), 5)).isEqualTo(1);
  }

  @Test
  void capacityZeroAdmitsNothing() {
    Limit limit = limit(1, SECOND, 0);
    assertThat(store.granted(KEY, limit, 1)).isZero();
    time.advance(YEAR);
    assertThat(store.granted(KEY, limit, 1)).isZero();
  }

  @Test
  void tenASecondPolledEveryFiftyMillisecondsAdmitsTenASecond() {
    Limit limit = limit(10, SECOND, 1);
    long admitted = 0;
    for (int poll = 0; poll < 200; poll++) {
      admitted += store.granted(KEY, limit, 1);
      time.advance(Duration.ofMillis(50));
    }
    assertThat(admitted).isEqualTo(100);
  }

  @Test
  void oneAnHourPolledEverySecondAdmitsOneAnHour() {
    Limit limit = limit(1, Duration.ofHours(1), 1);
    List<Long> admittedAt = new ArrayList<>();
    for (long second = 0; second < 2 * 3600 + 1; second++) {
      if (store.granted(KEY, limit, 1) == 1) {
        admittedAt.add(second);
      }
      time.advance(SECOND);
    }
    assertThat(admittedAt).containsExactly(0L, 3600L, 7200L);
  }

  @Test
  void waitingUntilTheCostFitsAdmitsItAndNoSooner() {
    Limit limit = limit(7, SECOND, 10);
    TokenBucket bucket = (TokenBucket) limit.algorithm();
    store.step(KEY, take(limit, 9));
    double used = store.step(KEY, take(limit, 5)).get(0).used();
    long wait = bucket.microsUntilFits(used, 5);
    time.advanceMicros(wait - 1);
    assertThat(store.granted(KEY, limit, 5)).isZero();
    time.advanceMicros(1);
    assertThat(store.granted(KEY, limit, 5)).isEqualTo(5);
  }

  @Test
  void raisingTheCapacityKeepsWhatWasUsed() {
    store.step(KEY, take(limit(100, MINUTE, 100), 60));
    Limit raised = limit(200, MINUTE, 200);
    assertThat(store.used(KEY, raised)).isEqualTo(60);
    assertThat(store.granted(KEY, raised, 141)).isZero();
    assertThat(store.granted(KEY, raised, 140)).isEqualTo(140);
  }

  @Test
  void loweringTheCapacityDeniesUntilUsedFallsBelowIt() {
    store.step(KEY, take(limit(60, MINUTE, 100), 60));
    Limit lowered = limit(60, MINUTE, 50);
    assertThat(store.granted(KEY, lowered, 1)).isZero();
    time.advance(Duration.ofSeconds(10));
    assertThat(store.granted(KEY, lowered, 1)).isZero();
    time.advance(SECOND);
    assertThat(store.granted(KEY, lowered, 1)).isEqualTo(1);
  }

  @Test
  void loweringAndRaisingAgainForgetsNothing() {
    Limit before = limit(1, MINUTE, 100);
    store.step(KEY, take(before, 60));
    assertThat(store.granted(KEY, limit(1, MINUTE, 10), 1)).isZero();
    assertThat(store.granted(KEY, before, 41)).isZero();
    assertThat(store.granted(KEY, before, 40)).isEqualTo(40);
  }

  @Test
  void slowingTheRateDownForgetsNothingOnceARefillHasSeenIt() {
    store.step(KEY, take(limit(1000, SECOND, 1000), 1000));
    Limit slow = limit(1, YEAR, 1000);
    assertThat(store.granted(KEY, slow, 1)).isZero();
    time.advance(Duration.ofDays(1));
    assertThat(store.used(KEY, slow)).isCloseTo(1000, within(0.01));
  }

  @Test
  void aDeniedTakeChargesNothing() {
    Limit limit = limit(1, MINUTE, 10);
    store.step(KEY, take(limit, 8));
    assertThat(store.step(KEY, take(limit, 5))).containsExactly(new Level(0, 8, 8));
    assertThat(store.granted(KEY, limit, 2)).isEqualTo(2);
  }

  @Test
  void aPeekMovesNothing() {
    Limit limit = limit(1, SECOND, 10);
    store.step(KEY, take(limit, 10));
    for (int i = 0; i < 3; i++) {
      time.advance(Duration.ofMillis(500));
      assertThat(store.used(KEY, limit)).isEqualTo(10 - 0.5 * (i + 1));
    }
  }

  @Test
  void aPeekAtAnUnknownKeySeesAFullBucket() {
    assertThat(store.step("nobody", Take.peek(limit(1, SECOND, 10))))
        .containsExactly(new Level(0, 0, 0));
  }

  @Test
  void takesOfOneRefillAreGrantedAllOrNone() {
    Limit wide = limit("wide", 1, MINUTE, 100);
    Limit narrow = limit("narrow", 1, MINUTE, 5);
    assertThat(store.step(KEY, take(wide, 3), take(narrow, 3)))
        .containsExactly(new Level(3, 3, 3), new Level(3, 3, 3));
    assertThat(store.step(KEY, take(wide, 3), take(narrow, 3)))
        .containsExactly(new Level(0, 3, 3), new Level(0, 3, 3));
    assertThat(store.step(KEY, take(narrow, 3), take(wide, 3)))
        .containsExactly(new Level(0, 3, 3), new Level(0, 3, 3));
    assertThat(store.step(KEY, take(wide, 2), take(narrow, 2)))
        .containsExactly(new Level(2, 5, 5), new Level(2, 5, 5));
  }

  @Test
  void aPartialGrantGivesWhatIsFreeIfThatIsWhatIsNeeded() {
    Limit limit = limit(1, MINUTE, 10);
    store.step(KEY, take(limit, 4));
    assertThat(store.step(KEY, new Take(limit, 0, 0, 7, 50)).get(0).granted()).isZero();
    assertThat(store.step(KEY, new Take(limit, 0, 0, 2, 50)).get(0).granted()).isEqualTo(6);
    assertThat(store.step(KEY, new Take(limit, 0, 0, 0, 50)).get(0).granted()).isZero();
  }

  @Test
  void eachTakeOfARefillIsGrantedItsOwnPart() {
    Limit wide = limit("wide", 1, MINUTE, 100);
    Limit narrow = limit("narrow", 1, MINUTE, 5);
    assertThat(store.step(KEY, new Take(wide, 0, 0, 1, 20), new Take(narrow, 0, 0, 1, 20)))
        .extracting(Level::granted)
        .containsExactly(20L, 5L);
  }

  @Test
  void aLimitThatIsNotAskedForDeniesNothing() {
    Limit full = limit("full", 1, MINUTE, 5);
    Limit other = limit("other", 1, MINUTE, 5);
    store.step(KEY, new Take(full, 0, 50, 0, 0));
    assertThat(store.step(KEY, Take.peek(full), take(other, 5)))
        .extracting(Level::granted)
        .containsExactly(0L, 5L);
  }

  @Test
  void whatIsReturnedCanBeTakenByTheSameRefill() {
    Limit limit = limit(1, MINUTE, 10);
    store.step(KEY, take(limit, 10));
    assertThat(store.step(KEY, new Take(limit, 4, 0, 4, 4)).get(0).granted()).isEqualTo(4);
    assertThat(store.used(KEY, limit)).isEqualTo(10);
  }

  @Test
  void returningMoreThanWasUsedLeavesAFullBucketAndNoMore() {
    Limit limit = limit(1, MINUTE, 10);
    store.step(KEY, take(limit, 5));
    assertThat(store.step(KEY, new Take(limit, 100, 0, 0, 0)).get(0).used()).isZero();
    assertThat(store.granted(KEY, limit, 11)).isZero();
    assertThat(store.granted(KEY, limit, 10)).isEqualTo(10);
  }

  @Test
  void aReturnToAnUnknownKeyDoesNothing() {
    Limit limit = limit(1, MINUTE, 10);
    assertThat(store.step(KEY, new Take(limit, 100, 0, 0, 0))).containsExactly(new Level(0, 0, 0));
  }

  @Test
  void aChargeMayExceedTheCapacityAndLeaksAway() {
    Limit limit = limit(1, SECOND, 10);
    assertThat(store.step(KEY, new Take(limit, 0, 25, 0, 0)).get(0).used()).isEqualTo(25);
    time.advance(Duration.ofSeconds(15));
    assertThat(store.granted(KEY, limit, 1)).isZero();
    time.advance(SECOND);
    assertThat(store.granted(KEY, limit, 1)).isEqualTo(1);
  }

  @Test
  void returnsAndChargesAreAppliedThoughTheRestIsDenied() {
    Limit limit = limit("default", 1, MINUTE, 10);
    Limit other = limit("other", 1, MINUTE, 10);
    store.step(KEY, take(limit, 8));
    List<Level> levels =
        store.step(KEY, new Take(limit, 3, 0, 11, 11), new Take(other, 0, 4, 1, 1));
    assertThat(levels).extracting(Level::granted).containsExactly(0L, 0L);
    assertThat(store.used(KEY, limit)).isEqualTo(5);
    assertThat(store.used(KEY, other)).isEqualTo(4);
  }

  @Test
  void theReturnComesBeforeTheCharge() {
    Limit limit = limit(1, MINUTE, 10);
    assertThat(store.step(KEY, new Take(limit, 5, 5, 0, 0)).get(0).used()).isEqualTo(5);
  }

  @Test
  void aCostAboveTheCapacityIsNeverGranted() {
    for (long capacity : new long[] {1, 10, TRILLION - 1}) {
      Limit limit = limit(1e9, SECOND, capacity);
      String key = "capacity " + capacity;
      assertThat(store.step(key, take(limit, capacity + 1))).containsExactly(new Level(0, 0, 0));
      assertThat(store.granted(key, limit, capacity)).isEqualTo(capacity);
    }
  }

  @Test
  void aTrillionPermitsAreCountedToTheLast() {
    Limit limit = limit(1, YEAR, TRILLION);
    assertThat(store.granted(KEY, limit, TRILLION - 1)).isEqualTo(TRILLION - 1);
    assertThat(store.granted(KEY, limit, 2)).isZero();
    assertThat(store.granted(KEY, limit, 1)).isEqualTo(1);
    assertThat(store.step(KEY, Take.peek(limit))).containsExactly(new Level(0, TRILLION, TRILLION));
  }

  @Test
  void aPermitTakenOneByOneFromATrillionIsNotLost() {
    Limit limit = limit(1, YEAR, TRILLION);
    store.step(KEY, new Take(limit, 0, TRILLION - 3, 0, 0));
    assertThat(admitted(limit, 10)).isEqualTo(3);
  }

  @Test
  void oneAYearRefillsAfterAYear() {
    Limit limit = limit(1, YEAR, 1);
    assertThat(store.granted(KEY, limit, 1)).isEqualTo(1);
    time.advance(YEAR.minusMillis(1));
    assertThat(store.granted(KEY, limit, 1)).isZero();
    time.advance(Duration.ofMillis(1));
    assertThat(store.granted(KEY, limit, 1)).isEqualTo(1);
  }

  @Test
  void aBillionASecondRefillsAThousandAMicrosecond() {
    Limit limit = limit(1e9, SECOND, TRILLION);
    assertThat(store.granted(KEY, limit, TRILLION)).isEqualTo(TRILLION);
    time.advanceMicros(1);
    assertThat(store.granted(KEY, limit, 1001)).isZero();
    assertThat(store.granted(KEY, limit, 1000)).isEqualTo(1000);
  }

  @Test
  void aChargeThatTakesLongerThanTheWorldToLeakIsKept() {
    Limit limit = limit(1, YEAR, 1);
    store.step(KEY, new Take(limit, 0, TRILLION, 0, 0));
    time.advance(YEAR);
    assertThat(store.used(KEY, limit)).isEqualTo(TRILLION - 1);
  }

  @Test
  void aLevelIsRememberedUntilItHasLeakedAway() {
    Limit limit = limit(1, Duration.ofHours(1), 100);
    store.step(KEY, take(limit, 100));
    time.advance(Duration.ofHours(100).minusMillis(1));
    assertThat(store.used(KEY, limit)).isPositive();
    time.advance(Duration.ofMillis(1));
    assertThat(store.used(KEY, limit)).isZero();
  }

  @Test
  void aClockThatStepsBackRefillsNothingAndThenResumesAtOnce() {
    Limit limit = limit(1, SECOND, 10);
    store.step(KEY, take(limit, 10));
    time.advance(Duration.ofSeconds(-5));
    assertThat(store.granted(KEY, limit, 1)).isZero();
    time.advance(SECOND);
    assertThat(store.granted(KEY, limit, 1)).isEqualTo(1);
  }

  @Test
  void aPeekDoesNotMoveALevelWhoseClockHasSteppedBack() {
    Limit limit = limit(1, SECOND, 10);
    store.step(KEY, take(limit, 10));
    time.advance(Duration.ofSeconds(-5));
    assertThat(store.used(KEY, limit)).isEqualTo(10);
    time.advance(Duration.ofSeconds(7));
    assertThat(store.used(KEY, limit)).isEqualTo(8);
  }

  static Stream<List<String>> keysThatOnlyLookAlike() {
    return Stream.of(
        List.of("a_b", "a:b", "a/b", "a{b", "a}b", "a%b", "a b", "ab", "A_b"),
        List.of("a\0b", "a%00b", "a%2500b", "a\u0001b"),
        List.of("\u00e9", "e\u0301", "\u00e8"),
        List.of("{x}", "x", "{{x}}", "x}", "{x"),
        List.of("x}:default:level", "x:default:level", "x"),
        List.of("\ud800", "\udc00", "\ud800\udc00", "%uD800", "?", "\ufffd"),
        List.of("\u0085", "%85", "%C2%85"),
        List.of(" ", "  ", "\t", "%20", "+"),
        List.of("k".repeat(1024), "k".repeat(1023) + "l", "k".repeat(1023)));
  }

  @ParameterizedTest
  @MethodSource("keysThatOnlyLookAlike")
  void differentKeysShareNothing(List<String> keys) {
    Limit limit = limit(1, YEAR, 1);
    for (String key : keys) {
      assertThat(store.granted(key, limit, 1)).as(key).isEqualTo(1);
    }
    for (String key : keys) {
      assertThat(store.granted(key, limit, 1)).as(key).isZero();
    }
  }

  @Test
  void limitsOfAKeyShareNothing() {
    store.step(KEY, take(limit("a", 1, YEAR, 1), 1));
    assertThat(store.granted(KEY, limit("b", 1, YEAR, 1), 1)).isEqualTo(1);
    assertThat(store.granted(KEY, limit("A", 1, YEAR, 1), 1)).isEqualTo(1);
  }

  @Test
  void prefixesShareNothing() {
    Limit limit = limit(1, YEAR, 1);
    store.step(KEY, take(limit, 1));
    try (StoreDriver other = open("weir:2").start()) {
      assertThat(other.granted(KEY, limit, 1)).isEqualTo(1);
    }
  }

  @Test
  void refillsOfOneKeyInABatchAreCarriedOutInOrder() {
    Limit limit = limit(1, YEAR, 3);
    Refill two = new Refill(KEY, List.of(take(limit, 2)));
    Refill one = new Refill(KEY, List.of(take(limit, 1)));
    assertThat(store.refill(List.of(two, two, one)))
        .extracting(outcome -> ((Answered) outcome).levels().get(0).granted())
        .containsExactly(2L, 0L, 1L);
  }

  @Test
  void aLargeBatchIsAnsweredInItsOrder() {
    List<Refill> batch = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      batch.add(new Refill("key" + i, List.of(take(limit(1, YEAR, 2000), i))));
    }
    List<RefillOutcome> outcomes = store.refill(batch);
    for (int i = 0; i < 2000; i++) {
      assertThat(((Answered) outcomes.get(i)).levels()).containsExactly(new Level(i, i, i));
    }
  }

  @Test
  void refillsOfABatchHaveTheirOwnNumbersOfTakes() {
    Limit a = limit("a", 1, YEAR, 10);
    Limit b = limit("b", 1, YEAR, 10);
    assertThat(
            store.refill(
                List.of(
                    new Refill("x", List.of(take(a, 1), take(b, 2))),
                    new Refill("y", List.of(take(b, 3))))))
        .extracting(outcome -> ((Answered) outcome).levels())
        .containsExactly(
            List.of(new Level(1, 1, 1), new Level(2, 2, 2)), List.of(new Level(3, 3, 3)));
  }

  @Test
  void forgettingMakesTheBucketFullAgain() {
    Limit a = limit("a", 1, YEAR, 10);
    Limit b = limit("b", 1, YEAR, 10);
    store.step(KEY, take(a, 10), take(b, 10));
    store.forget(KEY, "a");
    assertThat(store.used(KEY, a)).isZero();
    assertThat(store.used(KEY, b)).isEqualTo(10);
    store.forget(KEY);
    store.forget("nobody", "a", "b");
  }

  @Test
  void eachSubCounterCountsAndForgetsByItself() {
    Limit limit = new Limit("a", Set.of(), new TokenBucket(64, YEAR, 10), false, Shard.all(4));
    assertThat(store.granted(KEY, limit.part(1), 3)).isEqualTo(3);
    assertThat(store.granted(KEY, limit.part(1), 1)).isZero();
    assertThat(store.granted(KEY, limit.part(4), 2)).isEqualTo(2);
    assertThat(store.used(KEY, limit.part(2))).isZero();
    assertThat(store.used(KEY + ":4/1", new Limit("a", Set.of(), limit.algorithm()))).isZero();
    store.forget(KEY, new Shard(1, 4), "a");
    assertThat(store.used(KEY, limit.part(1))).isZero();
    assertThat(store.used(KEY, limit.part(4))).isEqualTo(2);
  }

  @Test
  void grantsOfAWindowAddUpToWhatIsAuthorized() {
    Limit limit = limit(1, YEAR, 100);
    assertThat(store.step(KEY, take(limit, 10)).get(0).authorized()).isEqualTo(10);
    assertThat(store.step(KEY, take(limit, 5)).get(0).authorized()).isEqualTo(15);
    assertThat(store.step(KEY, new Take(limit, 5, 20, 0, 0)).get(0).authorized()).isEqualTo(15);
    time.advance(MINUTE);
    assertThat(store.step(KEY, Take.peek(limit)).get(0).authorized()).isZero();
    assertThat(store.step(KEY, take(limit, 1)).get(0).authorized()).isEqualTo(1);
  }

  @Test
  void windowsOfKeysBeginAtDifferentTimes() {
    Limit limit = limit(1, YEAR, 100);
    List<String> keys = Stream.iterate(0, i -> i + 1).limit(50).map(i -> "key" + i).toList();
    keys.forEach(key -> store.step(key, take(limit, 1)));
    time.advance(MINUTE.dividedBy(2));
    List<String> fresh =
        keys.stream()
            .filter(key -> store.step(key, Take.peek(limit)).get(0).authorized() == 0)
            .toList();
    assertThat(fresh).hasSizeBetween(10, 40);
  }

  @Test
  void theOutcomeTellsTheStoresTime() {
    time.advance(Duration.ofNanos(123_456_789_000L));
    assertThat(store.answer(KEY, Take.peek(limit(1, SECOND, 1))).storeMicros())
        .isEqualTo(time.epochMicros());
  }

  @Test
  void aStartedStoreIsHealthy() {
    assertThat(store.store().healthy()).isTrue();
  }

  private long admitted(Limit limit, int calls) {
    long admitted = 0;
    for (int i = 0; i < calls; i++) {
      admitted += store.granted(KEY, limit, 1);
    }
    return admitted;
  }
}
