package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.FixedWindow;
import dev.weir.config.Gateway;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DeciderTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 1000);
  }

  // ---- counting

  @Test
  void remainingCountsDownRequestByRequestWhateverTheLeases() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    for (long left = 9_999; left >= 0; left--) {
      assertThat(node.check("a", 1).remaining()).isEqualTo(left);
    }
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void aColdBurstOfTenThousandTakesAboutLogOfTheCeilingPlusItsQuotientCalls() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 50_000));
    assertThat(node.allowedOf(10_000, "a")).isEqualTo(10_000);
    // The ceiling is 500; a lease is refilled when an eighth of it is left.
    assertThat(node.storeCalls).isLessThan(9 + 10_000 * 8 / (500 * 7) + 5);
  }

  @Test
  void aLimitTooSmallToLeaseAsksTheStoreEachTimeAndIsExact() {
    TestNode node = node(Plans.bucket("p", 1, MINUTE, 5));
    assertThat(node.allowedOf(5, "a")).isEqualTo(5);
    assertThat(node.storeCalls).isEqualTo(5);
    assertThat(node.decider.outstanding()).isZero();
  }

  @Test
  void aDeniedKeyAsksTheStoreNoMoreUntilTheTimeThatItGave() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 5));
    node.allowedOf(5, "a");
    int calls = node.storeCalls;
    assertThat(node.allowedOf(100, "a")).isZero();
    assertThat(node.storeCalls).isEqualTo(calls);
    clock.advance(Duration.ofMillis(999));
    assertThat(node.check("a", 1).allowed()).isFalse();
    clock.advance(Duration.ofMillis(1));
    assertThat(node.check("a", 1).allowed()).isTrue();
  }

  @Test
  void waitingExactlyRetryAfterAdmits() {
    TestNode node = node(Plans.bucket("p", 3, Duration.ofSeconds(7), 20));
    for (int round = 0; round < 200; round++) {
      long cost = 1L + round % 20;
      Decision decision = node.check("a", cost);
      if (!decision.allowed()) {
        clock.advance(Duration.ofMillis(decision.retryAfterMillis()));
        assertThat(node.check("a", cost).allowed()).isTrue();
      }
    }
  }

  @Test
  void aDeniedCostOfFiveWithTwoLeftSpendsNothing() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.check("a", 8);
    Decision denied = node.check("a", 5);
    assertThat(denied.allowed()).isFalse();
    assertThat(denied.remaining()).isEqualTo(2);
    assertThat(node.check("a", 2).allowed()).isTrue();
  }

  @Test
  void aCostAboveTheCapacityIsRefusedForGoodAndSpendsNothing() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 10));
    Denied denied = (Denied) node.check("a", 11);
    assertThat(denied.reason()).isEqualTo(Decision.Reason.COST_EXCEEDS_LIMIT);
    assertThat(denied.retryAfterMillis()).isEqualTo(Denied.NEVER);
    assertThat(node.check("a", 10).allowed()).isTrue();
  }

  @Test
  void aPeekMovesNothing() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.check("a", 1);
    for (int i = 0; i < 10; i++) {
      Decision peek = node.check("a", 0);
      assertThat(peek.allowed()).isTrue();
      assertThat(peek.remaining()).isEqualTo(9_999);
    }
    assertThat(node.check("b", 0).remaining()).isEqualTo(10_000);
    assertThat(node.decider.outstanding()).isZero();
  }

  @Test
  void aPeekAfterALongTimeAsksTheStore() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 100));
    node.check("a", 50);
    clock.advance(MINUTE);
    assertThat(node.check("a", 0).remaining()).isEqualTo(100);
  }

  @Test
  void anEndpointWeighsWhatTheConfigurationSays() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    assertThat(checkAt(node, "search").remaining()).isEqualTo(90);
    assertThat(checkAt(node, "health").remaining()).isEqualTo(90);
    assertThat(checkAt(node, "other").remaining()).isEqualTo(89);
  }

  @Test
  void keysShareNothing() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 1));
    for (String key : List.of("a", "A", "a ", "a:", "a%", "{a}", "a\u0000", "\u00e9", "e\u0301")) {
      assertThat(node.allowedOf(2, key)).as(key).isEqualTo(1);
    }
  }

  @Test
  void unknownPlansAndKeysAreRefusedAndLeaveNoTrace() {
    ConfigSnapshot noDefault =
        new ConfigSnapshot(
            1,
            Optional.empty(),
            Map.of("p", Plans.bucket("p", 1, SECOND, 1)),
            Map.of(),
            Gateway.DEFAULT,
            Map.of("known", "p"));
    TestNode node = new TestNode(clock, store, noDefault, 1000);
    assertThat(node.check("known", 1).plan()).isEqualTo("p");
    assertThatThrownBy(() -> node.check("stranger", 1))
        .isInstanceOfSatisfying(
            CheckRefusedException.class, e -> assertThat(e.code()).isEqualTo(403));
    assertThatThrownBy(() -> node.check(CheckRequest.of("known").withPlan("no")))
        .isInstanceOfSatisfying(
            CheckRefusedException.class, e -> assertThat(e.code()).isEqualTo(404));
    assertThat(node.decider.keys()).isEqualTo(1);
  }

  // ---- waiting

  @Test
  void sixtyAtOnceAtALimitOfFiveAdmitExactlyFiveInOrder() {
    TestNode node = node(Plans.bucket("p", 1, MINUTE, 5));
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 60);
    assertThat(answers).allMatch(List::isEmpty);
    node.release();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(answers.subList(0, 5)).allMatch(answer -> answer.get(0).allowed());
    assertThat(answers.subList(5, 60)).noneMatch(answer -> answer.get(0).allowed());
    assertThat(node.storeCalls).isEqualTo(2);
  }

  @Test
  void nobodySpendsPastThoseWhoWait() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(8, "a");
    node.hold();
    List<Decision> large = node.ask(CheckRequest.of("a").withCost(100));
    List<Decision> small = node.ask(CheckRequest.of("a").withCost(1));
    assertThat(large).isEmpty();
    assertThat(small).isEmpty();
    node.release();
    assertThat(large.get(0).allowed()).isTrue();
    assertThat(small.get(0).remaining()).isEqualTo(10_000 - 8 - 100 - 1);
  }

  @Test
  void aSmallCostIsServedThoughALargeOneBeforeItIsDenied() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.check("a", 8);
    clock.advance(Duration.ofSeconds(3));
    node.hold();
    List<Decision> large = node.ask(CheckRequest.of("b").withCost(10));
    List<Decision> second = node.ask(CheckRequest.of("b").withCost(9));
    List<Decision> third = node.ask(CheckRequest.of("b").withCost(0));
    node.release();
    assertThat(large.get(0).allowed()).isTrue();
    assertThat(second.get(0).allowed()).isFalse();
    assertThat(third.get(0).allowed()).isTrue();
  }

  @Test
  void aRefillStartsAheadOfNeedWhileCallersGoOn() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100_000));
    node.allowedOf(1_500, "a");
    node.hold();
    int answered = 0;
    while (!node.ask(CheckRequest.of("a")).isEmpty()) {
      answered++;
    }
    // An eighth of the lease is spent after the refill has started.
    assertThat(answered).isGreaterThan(100);
    node.release();
    assertThat(node.check("a", 1).allowed()).isTrue();
  }

  // ---- leases

  @Test
  void unspentPermitsGoBackWhenTheLeaseEnds() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(40, "a");
    assertThat(node.decider.outstanding()).isPositive();
    clock.advance(Duration.ofSeconds(2));
    node.tend();
    assertThat(node.decider.outstanding()).isZero();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_960);
    assertThat(node.decider.settled()).isTrue();
  }

  @Test
  void aReturnWhoseOutcomeIsUnknownIsNotRepeated() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(40, "a");
    clock.advance(Duration.ofSeconds(2));
    node.hold();
    node.tend();
    node.loseAnswers();
    clock.advance(Duration.ofSeconds(2));
    node.tend();
    node.tend();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_960);
  }

  @Test
  void aReturnThatWasNeverSentIsRepeated() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(40, "a");
    clock.advance(Duration.ofSeconds(2));
    node.cut();
    node.tend();
    node.mend();
    node.tend();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_960);
  }

  @Test
  void permitsHeldStayUnderTheCeilingOfTheNodeCount() {
    TestNode node = node(Plans.bucket("p", 100, SECOND, 100));
    node.decider.nodes(3);
    for (int i = 0; i < 100; i++) {
      node.check("a", 1);
      assertThat(node.decider.outstanding()).isLessThanOrEqualTo(20);
    }
  }

  @Test
  void givingAllBackLeavesNothingBehind() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(40, "a");
    node.allowedOf(20, "b");
    node.decider.giveAllBack();
    assertThat(node.decider.settled()).isTrue();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_960);
    assertThat(remainingInStore("b", 10_000)).isEqualTo(9_980);
  }

  @Test
  void twoNodesSharingALimitOfOneAdmitOne() {
    TestNode one = node(Plans.bucket("p", 1, MINUTE, 1));
    TestNode two = node(Plans.bucket("p", 1, MINUTE, 1));
    assertThat(one.allowedOf(5, "a") + two.allowedOf(5, "a")).isEqualTo(1);
  }

  @Test
  void twoNodesDifferInRemainingByAtMostTheirLeases() {
    TestNode one = node(Plans.bucket("p", 1, YEAR, 10_000));
    TestNode two = node(Plans.bucket("p", 1, YEAR, 10_000));
    one.decider.nodes(2);
    two.decider.nodes(2);
    for (int i = 0; i < 2_000; i++) {
      long a = one.check("a", 1).remaining();
      long b = two.check("a", 1).remaining();
      assertThat(Math.abs(a - b)).isLessThanOrEqualTo(100 + 1);
    }
  }

  // ---- changes

  @Test
  void raisingOneHundredToTwoHundredWithSixtyUsedLeavesOneHundredAndForty() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.allowedOf(60, "a");
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 200)));
    assertThat(node.check("a", 0).remaining()).isEqualTo(140);
    assertThat(node.inspect("a").statuses().get(0).remaining()).isEqualTo(140);
    assertThat(node.allowedOf(200, "a")).isEqualTo(140);
  }

  @Test
  void loweringBelowWhatIsUsedLeavesNothingAndForgetsNothing() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.allowedOf(90, "a");
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 50)));
    assertThat(node.check("a", 0).remaining()).isZero();
    assertThat(node.check("a", 1).allowed()).isFalse();
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 100)));
    assertThat(node.allowedOf(100, "a")).isEqualTo(10);
  }

  @Test
  void aRaiseEndsALocalDenialAtOnce() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 20)));
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
  }

  @Test
  void aChangeTakesBackThePermitsHeldUnderTheOldNumbers() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 20_000)));
    assertThat(node.decider.outstanding()).isZero();
    assertThat(remainingInStore("a", 20_000)).isEqualTo(19_900);
  }

  @Test
  void aChangeThatDoesNotConcernAKeyLeavesItsLeaseAlone() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    long held = node.decider.outstanding();
    node.decider.configure(
        Plans.config(Plans.bucket("p", 1, YEAR, 10_000), Plans.bucket("q", 1, SECOND, 1)));
    assertThat(node.decider.outstanding()).isEqualTo(held);
  }

  @Test
  void aGrantThatArrivesAfterAChangeGoesBack() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    node.hold();
    while (!node.ask(CheckRequest.of("a")).isEmpty()) {
      // Spend what is held, until a refill is needed.
    }
    node.decider.configure(Plans.config(Plans.bucket("p", 2, YEAR, 10_000)));
    node.release();
    clock.advance(Duration.ofSeconds(2));
    node.tend();
    node.tend();
    long used = 10_000 - remainingInStore("a", 10_000);
    assertThat(used).isEqualTo(node.decider.decisions().allowedCount());
  }

  @Test
  void aPlanThatACallerNamesHoldsAndSharesWhatTheKeyHasUsed() {
    TestNode node = node(Plans.bucket("small", 1, YEAR, 10), Plans.bucket("large", 1, YEAR, 100));
    node.check("a", 5);
    Decision large = node.check(CheckRequest.of("a").withPlan("large").withCost(20)).orElseThrow();
    assertThat(large.plan()).isEqualTo("large");
    assertThat(large.remaining()).isEqualTo(75);
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void movingAKeyToAnotherPlanKeepsWhatItUsed() {
    Plan small = Plans.bucket("small", 1, YEAR, 10);
    Plan large = Plans.bucket("large", 1, YEAR, 100);
    TestNode node = node(small, large);
    node.check("a", 6);
    ConfigSnapshot assigned =
        new ConfigSnapshot(
            2,
            Optional.of("small"),
            Map.of("small", small, "large", large),
            Map.of(),
            Gateway.DEFAULT,
            Map.of("a", "large"));
    node.decider.configure(assigned);
    Decision decision = node.check("a", 1);
    assertThat(decision.plan()).isEqualTo("large");
    assertThat(decision.remaining()).isEqualTo(93);
  }

  @Test
  void movingToAnotherAlgorithmKeepsWhatWasUsed() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    List<Algorithm> algorithms =
        List.of(
            new FixedWindow(10_000, new Every(YEAR)),
            new SlidingWindow(10_000, YEAR),
            new SlidingLog(10_000, YEAR),
            new TokenBucket(1, YEAR, 10_000),
            new FixedWindow(10_000, new Calendar(CalendarUnit.YEAR, ZoneId.of("Europe/Berlin"))));
    int used = 100;
    for (Algorithm algorithm : algorithms) {
      node.decider.configure(Plans.config(Plans.of("p", algorithm)));
      assertThat(node.check("a", 0).remaining()).as("%s", algorithm).isEqualTo(10_000 - used);
      used += node.allowedOf(50, "a");
      assertThat(node.check("a", 1).remaining()).as("%s", algorithm).isEqualTo(10_000 - ++used);
    }
  }

  @ParameterizedTest
  @MethodSource("tenAnHour")
  void aRaiseEndsALocalDenialOfEveryAlgorithmAtOnce(Algorithm ten, Algorithm twenty) {
    TestNode node = node(Plans.of("p", ten));
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
    node.decider.configure(Plans.config(Plans.of("p", twenty)));
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
    node.decider.configure(Plans.config(Plans.of("p", ten)));
    assertThat(node.allowedOf(50, "a")).isZero();
    assertThat(node.check("a", 0).remaining()).isZero();
    node.decider.configure(Plans.config(Plans.of("p", twenty)));
    assertThat(node.allowedOf(50, "a")).isZero();
  }

  static List<Arguments> tenAnHour() {
    return List.of(
        Arguments.of(new TokenBucket(1, YEAR, 10), new TokenBucket(1, YEAR, 20)),
        Arguments.of(new FixedWindow(10, new Every(YEAR)), new FixedWindow(20, new Every(YEAR))),
        Arguments.of(new SlidingWindow(10, YEAR), new SlidingWindow(20, YEAR)),
        Arguments.of(new SlidingLog(10, YEAR), new SlidingLog(20, YEAR)));
  }

  // ---- windows

  @ParameterizedTest
  @MethodSource("tenThousandAMinute")
  void aWindowIsLeasedAndAdmitsItsLimit(Algorithm algorithm) {
    TestNode node = node(Plans.of("p", algorithm));
    assertThat(node.allowedOf(20_000, "a")).isEqualTo(10_000);
    // The ceiling is 100.
    assertThat(node.storeCalls).isLessThan(7 + 10_000 * 8 / (100 * 7) + 5);
    clock.advance(Duration.ofMillis(node.check("a", 10_000).retryAfterMillis()));
    assertThat(node.allowedOf(20_000, "a")).isEqualTo(10_000);
  }

  static List<Algorithm> tenThousandAMinute() {
    return List.of(
        new FixedWindow(10_000, new Every(MINUTE)),
        new FixedWindow(10_000, new Calendar(CalendarUnit.DAY, ZoneId.of("UTC"))),
        new SlidingWindow(10_000, MINUTE));
  }

  @Test
  void permitsEndWithTheirWindow() {
    FixedWindow algorithm = new FixedWindow(10_000, new Every(MINUTE));
    TestNode node = node(Plans.of("p", algorithm));
    clock.advance(Duration.ofMillis(node.check("a", 1).resetAfterMillis() - 500));
    node.allowedOf(40, "a");
    assertThat(node.decider.outstanding()).isPositive();
    clock.advance(Duration.ofMillis(500));
    int calls = node.storeCalls;
    assertThat(node.check("a", 1).remaining()).isEqualTo(9_999);
    assertThat(node.storeCalls).isEqualTo(calls + 1);
    node.decider.giveAllBack();
    assertThat(node.inspect("a").statuses().get(0).remaining()).isEqualTo(9_999);
  }

  @Test
  void aWindowThatIsOverIsNotToldToWhoPeeks() {
    TestNode node = node(Plans.of("p", new FixedWindow(100, new Every(MINUTE))));
    clock.advance(Duration.ofMillis(node.check("a", 1).resetAfterMillis() - 500));
    node.check("a", 40);
    clock.advance(Duration.ofMillis(500));
    assertThat(node.check("a", 0).remaining()).isEqualTo(100);
  }

  @Test
  void aResetStaysWhereItIsWhileTimePasses() {
    TestNode node = node(Plans.of("p", new FixedWindow(10_000, new Every(MINUTE))));
    node.allowedOf(100, "a");
    long reset = node.check("a", 1).resetAfterMillis();
    clock.advance(Duration.ofMillis(200));
    assertThat(node.check("a", 1).resetAfterMillis()).isEqualTo(reset - 200);
  }

  @Test
  void theWindowOfOneLimitDoesNotEndTheLeasesOfAnother() {
    Limit search =
        new Limit("search", Set.of("search"), new SlidingWindow(1_000, Duration.ofMillis(300)));
    Plan plan = new Plan("p", List.of(Plans.limit("all", 1, YEAR, 100_000), search));
    TestNode node = node(plan);
    checkAt(node, "search");
    node.allowedOf(500, "a");
    clock.advance(Duration.ofMillis(301));
    node.tend();
    node.allowedOf(100, "a");
    int calls = node.storeCalls;
    node.allowedOf(1_000, "a");
    assertThat(node.storeCalls - calls).isLessThan(20);
  }

  @ParameterizedTest
  @MethodSource("sevenInThreeSeconds")
  void waitingExactlyRetryAfterAdmitsWhateverTheAlgorithm(Algorithm algorithm) {
    TestNode node = node(Plans.of("p", algorithm));
    for (int round = 0; round < 200; round++) {
      long cost = 1L + round * 5 % 7;
      Decision decision = node.check("a", cost);
      if (!decision.allowed()) {
        clock.advance(Duration.ofMillis(decision.retryAfterMillis()));
        assertThat(node.check("a", cost).allowed()).isTrue();
      }
      clock.advance(Duration.ofMillis(round * 11L % 97));
    }
  }

  static List<Algorithm> sevenInThreeSeconds() {
    Duration window = Duration.ofSeconds(3);
    return List.of(
        new TokenBucket(7, window, 7),
        new FixedWindow(7, new Every(window)),
        new SlidingWindow(7, window),
        new SlidingLog(7, window));
  }

  @Test
  void aLogAsksTheStoreForEachDecisionAndIsExact() {
    TestNode node = node(Plans.of("p", new SlidingLog(3, SECOND)));
    for (int i = 0; i < 3; i++) {
      assertThat(node.check("a", 1).allowed()).isTrue();
      clock.advance(Duration.ofMillis(100));
    }
    assertThat(node.check("a", 1).retryAfterMillis()).isEqualTo(700);
    assertThat(node.check("a", 2).retryAfterMillis()).isEqualTo(800);
    assertThat(node.storeCalls).isEqualTo(5);
    clock.advance(Duration.ofMillis(700));
    assertThat(node.check("a", 1).allowed()).isTrue();
    assertThat(node.check("a", 1).retryAfterMillis()).isEqualTo(100);
    assertThat(node.decider.outstanding()).isZero();
  }

  @Test
  void sixtyAtOnceAtALogOfFiveAdmitExactlyFive() {
    TestNode node = node(Plans.of("p", new SlidingLog(5, MINUTE)));
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 60);
    node.release();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(allowed(answers)).isEqualTo(5);
    // One for the first, one for those who came meanwhile, and one to hear when the next fits.
    assertThat(node.storeCalls).isEqualTo(3);
  }

  @Test
  void aMonthStartsAnewOnTheFirstInItsZone() {
    clock.advance(
        Duration.between(
            Instant.ofEpochMilli(clock.epochMillis()), Instant.parse("2040-01-31T22:59:59Z")));
    Calendar month = new Calendar(CalendarUnit.MONTH, ZoneId.of("Europe/Berlin"));
    TestNode node =
        new TestNode(
            clock,
            TestStores.embedded(clock),
            Plans.config(Plans.of("p", new FixedWindow(5, month))),
            1000);
    assertThat(node.allowedOf(10, "a")).isEqualTo(5);
    assertThat(node.check("a", 1).retryAfterMillis()).isEqualTo(1_000);
    clock.advance(SECOND);
    assertThat(node.allowedOf(10, "a")).isEqualTo(5);
    // February of a leap year.
    assertThat(node.check("a", 1).retryAfterMillis()).isEqualTo(Duration.ofDays(29).toMillis());
  }

  // ---- several limits

  @Test
  void limitsOfSeveralAlgorithmsAreTakenAllOrNone() {
    Plan plan =
        new Plan(
            "p",
            List.of(
                Plans.limit("bucket", 1, YEAR, 10_000),
                new Limit("fixed", Set.of(), new FixedWindow(9_000, new Every(YEAR))),
                new Limit("sliding", Set.of(), new SlidingWindow(8_000, YEAR)),
                new Limit("strict", Set.of(), new TokenBucket(1, YEAR, 70), true),
                new Limit("log", Set.of(), new SlidingLog(60, YEAR))));
    TestNode node = node(plan);
    assertThat(node.allowedOf(100, "a")).isEqualTo(60);
    Decision denied = node.check("a", 1);
    assertThat(denied.status().policy().name()).isEqualTo("log");
    node.decider.giveAllBack();
    assertThat(node.inspect("a").statuses())
        .extracting(LimitStatus::remaining)
        .containsExactly(9_940L, 8_940L, 7_940L, 10L, 0L);
  }

  @Test
  void severalLimitsAreTakenAllOrNone() {
    Plan plan =
        new Plan("p", List.of(Plans.limit("three", 1, YEAR, 3), Plans.limit("ten", 1, YEAR, 10)));
    TestNode node = node(plan);
    assertThat(node.allowedOf(5, "a")).isEqualTo(3);
    List<LimitStatus> limits = node.check("a", 1).limits();
    assertThat(limits.get(0).remaining()).isZero();
    assertThat(limits.get(1).remaining()).isEqualTo(7);
  }

  @Test
  void aDenialTellsOfTheLimitThatClearsLastAndAnAdmissionOfTheTightest() {
    Plan plan =
        new Plan(
            "p", List.of(Plans.limit("second", 1, SECOND, 2), Plans.limit("minute", 1, MINUTE, 3)));
    TestNode node = node(plan);
    assertThat(node.check("a", 1).status().policy().name()).isEqualTo("second");
    node.check("a", 1);
    clock.advance(SECOND);
    node.check("a", 1);
    Decision denied = node.check("a", 1);
    assertThat(denied.status().policy().name()).isEqualTo("minute");
    assertThat(denied.retryAfterMillis()).isGreaterThan(50_000);
  }

  @Test
  void aLimitForOneEndpointLeavesOthersAlone() {
    Limit search = new Limit("search", Set.of("search"), new TokenBucket(1, YEAR, 20));
    Plan plan = new Plan("p", List.of(Plans.limit("all", 1, YEAR, 1000), search));
    TestNode node = node(plan);
    assertThat(checkAt(node, "search").allowed()).isTrue();
    assertThat(checkAt(node, "search").allowed()).isTrue();
    Decision denied = checkAt(node, "search");
    assertThat(denied.allowed()).isFalse();
    assertThat(denied.limits()).hasSize(2);
    Decision other = checkAt(node, "other");
    assertThat(other.remaining()).isEqualTo(979);
    assertThat(other.limits()).hasSize(1);
  }

  // ---- plans that deny nothing

  @Test
  void anUnlimitedPlanAllowsAtOnceAndAsksTheStoreNothing() {
    TestNode node = node(Plan.unlimited("p"));
    node.cut();
    Decision decision = node.check("a", 1_000_000);
    assertThat(decision.allowed()).isTrue();
    assertThat(decision.degraded()).isFalse();
    assertThat(decision.plan()).isEqualTo("p");
    assertThat(decision.limit()).isEqualTo(Algorithm.MAX_QUOTA);
    assertThat(decision.remaining()).isEqualTo(Algorithm.MAX_QUOTA);
    assertThat(decision.resetAfterMillis()).isZero();
    assertThat(node.check("a", 0).allowed()).isTrue();
    assertThat(node.inspect("a").statuses()).isEmpty();
    assertThat(node.decider.settled()).isTrue();
    assertThat(node.decider.decisions().allowedCount()).isEqualTo(2);
  }

  @Test
  void whatAnUnlimitedPlanAllowsIsCountedByOneAdditionOnceTheKeyIsKnown() {
    TestNode node = node(Plan.unlimited("p"));
    node.check("a", 5);
    assertThat(node.decider.decideAtOnce(CheckRequest.of("a").withCost(7))).isNotNull();
    assertThat(node.usage.spent()).isEqualTo(12);
    assertThat(node.usage.tallies()).isEqualTo(1);
    clock.advance(Duration.ofSeconds(61));
    assertThat(node.decider.decideAtOnce(CheckRequest.of("a"))).isNull();
    node.check("a", 1);
    assertThat(node.usage.tallies()).isEqualTo(2);
    assertThat(node.usage.spent()).isEqualTo(13);
  }

  @Test
  void plansThatTakeTurnsOnAKeyHaveATallyEach() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 1000), Plans.bucket("q", 1, YEAR, 2000));
    for (int i = 0; i < 20; i++) {
      node.check("a", 1);
      node.check(CheckRequest.of("a").withPlan("q"));
    }
    assertThat(node.usage.spentUnder("p")).isEqualTo(20);
    assertThat(node.usage.spentUnder("q")).isEqualTo(20);
    assertThat(node.usage.tallies()).isEqualTo(2);
  }

  @Test
  void anUnlimitedPlanCanBeNamedByACaller() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 1), Plan.unlimited("free"));
    node.allowedOf(2, "a");
    assertThat(node.check(CheckRequest.of("a").withPlan("free")).orElseThrow().allowed()).isTrue();
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void whoBecomesUnlimitedGivesPermitsBackAndFindsWhatWasUsedWhenLimitedAgain() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    node.decider.configure(Plans.config(Plan.unlimited("p")));
    assertThat(node.decider.outstanding()).isZero();
    assertThat(node.allowedOf(20_000, "a")).isEqualTo(20_000);
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_900);
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 10_000)));
    assertThat(node.check("a", 0).remaining()).isEqualTo(9_900);
  }

  @Test
  void whoWaitsWhileThePlanBecomesUnlimitedIsAnswered() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 5));
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 10);
    node.decider.configure(Plans.config(Plan.unlimited("p")));
    node.release();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(allowed(answers)).isEqualTo(5);
    assertThat(node.allowedOf(10, "a")).isEqualTo(10);
  }

  @Test
  void aShadowAllowsWithTheNumbersOfTheDenialAndSpendsNothing() {
    TestNode node = node(Plans.shadow(Plans.bucket("p", 1, YEAR, 10)));
    node.check("a", 8);
    Decision decision = node.check("a", 5);
    assertThat(decision.allowed()).isTrue();
    assertThat(decision.remaining()).isEqualTo(2);
    assertThat(decision.retryAfterMillis()).isZero();
    assertThat(node.check("a", 11).allowed()).isTrue();
    assertThat(node.check("a", 2).remaining()).isZero();
    assertThat(node.decider.decisions().wouldDenyCount()).isEqualTo(2);
    assertThat(node.decider.decisions().allowedCount()).isEqualTo(4);
    assertThat(node.decider.decisions().deniedCount()).isZero();
  }

  @Test
  void aShadowDeniesNobodyWhoWaitsOrFindsTheStoreAway() {
    TestNode node = node(Plans.shadow(Plans.bucket("p", 1, YEAR, 5)));
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 20);
    node.release();
    assertThat(allowed(answers)).isEqualTo(20);
    assertThat(node.decider.decisions().wouldDenyCount()).isEqualTo(15);
    node.cut();
    clock.advance(MINUTE);
    Decision decision = node.check("a", 1);
    assertThat(decision.allowed()).isTrue();
    assertThat(decision.degraded()).isFalse();
    Decision other = node.check("b", 6);
    assertThat(other.allowed()).isTrue();
    assertThat(node.decider.decisions().wouldDenyCount()).isEqualTo(17);
    assertThat(remainingInStore("a", 5)).isZero();
  }

  @Test
  void aPlanThatStopsBeingAShadowDeniesWhatItHasCounted() {
    TestNode node = node(Plans.shadow(Plans.bucket("p", 1, YEAR, 5)));
    assertThat(node.allowedOf(10, "a")).isEqualTo(10);
    node.decider.configure(Plans.config(Plans.bucket("p", 1, YEAR, 5)));
    assertThat(node.allowedOf(10, "a")).isZero();
  }

  // ---- strict

  @Test
  void aStrictLimitAsksTheStoreForEachDecisionPeeksAndDenialsIncluded() {
    TestNode node = node(Plans.strict("p", new TokenBucket(1, YEAR, 10_000)));
    assertThat(node.allowedOf(100, "a")).isEqualTo(100);
    assertThat(node.storeCalls).isEqualTo(100);
    assertThat(node.decider.outstanding()).isZero();
    clock.advance(Duration.ofNanos(1_000));
    assertThat(node.check("a", 0).remaining()).isEqualTo(9_900);
    assertThat(node.storeCalls).isEqualTo(101);
    node.check("a", 9_900);
    for (int i = 0; i < 10; i++) {
      clock.advance(Duration.ofNanos(1_000));
      assertThat(node.check("a", 1).allowed()).isFalse();
    }
    assertThat(node.storeCalls).isEqualTo(112);
  }

  @Test
  void aLimitThatBecomesStrictGivesItsPermitsBackAndLeasesNoMore() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(100, "a");
    node.decider.configure(Plans.config(Plans.strict("p", new TokenBucket(1, YEAR, 10_000))));
    assertThat(node.check("a", 1).remaining()).isEqualTo(9_899);
    assertThat(node.decider.outstanding()).isZero();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_899);
  }

  // ---- without the store

  @Test
  void anOverdueRefillIsAnsweredFromThePartOfTheLimitAndFlagged() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 9));
    node.decider.nodes(3);
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 10);
    node.overdue();
    assertThat(answers).allMatch(answer -> answer.size() == 1 && answer.get(0).degraded());
    assertThat(allowed(answers)).isEqualTo(3);
  }

  @Test
  void whileARefillIsOverdueCallersDoNotWait() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.hold();
    node.ask(CheckRequest.of("a"));
    node.overdue();
    assertThat(node.check("a", 1).degraded()).isTrue();
  }

  @Test
  void aLateGrantPaysForWhatWasSpentWithoutTheStore() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 5));
    node.hold();
    List<List<Decision>> answers = askAtOnce(node, 60);
    node.overdue();
    node.release();
    int later = node.allowedOf(60, "a");
    assertThat(allowed(answers) + later).isEqualTo(5);
    assertThat(remainingInStore("a", 5)).isZero();
  }

  @Test
  void aLateGrantIsSpentByLaterCallers() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100_000));
    node.allowedOf(100, "a");
    node.hold();
    while (!node.ask(CheckRequest.of("a")).isEmpty()) {
      // Spend what is held.
    }
    node.overdue();
    node.release();
    int calls = node.storeCalls;
    assertThat(node.check("a", 1).degraded()).isFalse();
    assertThat(node.storeCalls).isEqualTo(calls);
  }

  @Test
  void aStoreThatIsAwayIsAnsweredForByThePartOfTheLimit() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 90));
    node.decider.nodes(3);
    node.cut();
    assertThat(node.allowedOf(200, "a")).isEqualTo(30);
    Decision denied = node.check("a", 1);
    assertThat(denied.degraded()).isTrue();
    assertThat(denied.retryAfterMillis()).isEqualTo(3_000);
    clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
    assertThat(node.check("a", 1).allowed()).isTrue();
  }

  static List<Algorithm> windowsOfTen() {
    return List.of(new SlidingWindow(10, MINUTE), new FixedWindow(10, new Every(MINUTE)));
  }

  @ParameterizedTest
  @MethodSource("windowsOfTen")
  void whatIsOwedOfFormerWindowsDeniesNothingWhileTheStoreIsAway(Algorithm algorithm) {
    TestNode node = node(Plans.of("p", algorithm));
    node.check("a", 1);
    node.cut();
    for (int window = 1; window <= 3; window++) {
      clock.advance(MINUTE);
      assertThat(node.allowedOf(20, "a")).isEqualTo(10);
      Decision denied = node.check("a", 1);
      assertThat(denied.degraded()).isTrue();
      assertThat(denied.retryAfterMillis()).isBetween(1L, MINUTE.toMillis());
    }
  }

  @Test
  void aMomentWithoutTheStoreHandsOutNoSecondBudget() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    assertThat(node.allowedOf(200, "a")).isEqualTo(90);
    node.cut();
    clock.advance(MINUTE);
    assertThat(node.allowedOf(200, "a")).isZero();
  }

  @Test
  void whatWasSpentWithoutTheStoreIsChargedWhenItIsBack() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    node.cut();
    assertThat(node.allowedOf(40, "a")).isEqualTo(40);
    node.mend();
    node.tend();
    node.tend();
    assertThat(remainingInStore("a", 90)).isEqualTo(50);
    assertThat(node.allowedOf(90, "a")).isEqualTo(50);
  }

  @Test
  void aLimitSmallerThanTheNodeCountStillAdmitsInTheLongRun() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 1));
    node.decider.nodes(2);
    node.cut();
    int allowed = 0;
    for (int i = 0; i < 100; i++) {
      allowed += node.check("a", 1).allowed() ? 1 : 0;
      clock.advance(SECOND);
    }
    assertThat(allowed).isBetween(49, 51);
  }

  @Test
  void aCostAboveThePartOfTheLimitFitsAfterTheTimeThatItIsTold() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 90));
    node.decider.nodes(3);
    node.cut();
    Decision denied = node.check("a", 60);
    assertThat(denied.retryAfterMillis()).isEqualTo(90_000);
    clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
    assertThat(node.check("a", 60).allowed()).isTrue();
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void aChargeWhoseOutcomeIsUnknownIsMadeAgain() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    node.cut();
    assertThat(node.allowedOf(40, "a")).isEqualTo(40);
    node.mend();
    node.hold();
    node.tend();
    node.dropRefills();
    node.tend();
    node.tend();
    assertThat(remainingInStore("a", 90)).isEqualTo(50);
  }

  @Test
  void whatIsOnItsWayToBeChargedIsNotHandedOutAgain() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    node.allowedOf(50, "a");
    node.cut();
    assertThat(node.allowedOf(30, "a")).isEqualTo(30);
    node.mend();
    // A change of the plan drops the stand-in; the charges are in the air when the next one starts.
    node.hold();
    node.tend();
    node.decider.configure(Plans.config(Plans.bucket("p", 2, YEAR, 90)));
    node.ask(CheckRequest.of("a").withCost(20));
    node.overdue();
    assertThat(node.allowedOf(30, "a")).isEqualTo(10);
  }

  @Test
  void theTimeOfTheResetComesNearerWhileTheStoreIsNotAsked() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 5));
    node.allowedOf(5, "a");
    clock.advance(Duration.ofMillis(400));
    assertThat(node.check("a", 1).resetAfterMillis()).isEqualTo(4_600);
  }

  @Test
  void aCostAboveTheCapacityIsRefusedForGoodWithoutTheStoreToo() {
    TestNode node = node(Plans.bucket("p", 1, SECOND, 10));
    node.cut();
    assertThat(node.check("a", 11).retryAfterMillis()).isEqualTo(Denied.NEVER);
  }

  @Test
  void inspectingWithoutTheStoreTellsWhatIsKnownAndSaysSo() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.check("a", 4);
    node.cut();
    clock.advance(SECOND);
    KeyLimits limits = node.inspect("a");
    assertThat(limits.degraded()).isTrue();
    assertThat(limits.staleMillis()).isEqualTo(1_000);
    assertThat(limits.statuses().get(0).remaining()).isEqualTo(6);
  }

  // ---- memory

  @Test
  void moreKeysThanAllowedEvictOthersWhichLoseNothingAndGainNothing() {
    TestNode node =
        new TestNode(clock, store, Plans.config(Plans.bucket("p", 1, YEAR, 10_000)), 50);
    for (int i = 0; i < 1_000; i++) {
      node.allowedOf(7, "key" + i);
      assertThat(node.decider.keys()).isLessThanOrEqualTo(50);
    }
    node.decider.giveAllBack();
    for (int i = 0; i < 1_000; i++) {
      assertThat(remainingInStore("key" + i, 10_000)).isEqualTo(9_993);
    }
  }

  private static List<List<Decision>> askAtOnce(TestNode node, int times) {
    List<List<Decision>> answers = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      answers.add(node.ask(CheckRequest.of("a")));
    }
    return answers;
  }

  private static long allowed(List<List<Decision>> answers) {
    return answers.stream().filter(answer -> answer.get(0).allowed()).count();
  }

  private static Decision checkAt(TestNode node, String endpoint) {
    return node.check(CheckRequest.of("a").withEndpoint(endpoint)).orElseThrow();
  }

  /** What the store itself has left of a key's default limit. */
  private long remainingInStore(String key, long capacity) {
    TestNode onlooker = node(Plans.bucket("p", 1, YEAR, capacity));
    return onlooker.inspect(key).statuses().get(0).remaining();
  }
}
