package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.LimitStatus;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Gateway;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.TokenBucket;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

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
    node.decider.tendKeys();
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
    node.decider.tendKeys();
    node.loseAnswers();
    clock.advance(Duration.ofSeconds(2));
    node.decider.tendKeys();
    node.decider.tendKeys();
    assertThat(remainingInStore("a", 10_000)).isEqualTo(9_960);
  }

  @Test
  void aReturnThatWasNeverSentIsRepeated() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(40, "a");
    clock.advance(Duration.ofSeconds(2));
    node.cut();
    node.decider.tendKeys();
    node.mend();
    node.decider.tendKeys();
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
    node.decider.tendKeys();
    node.decider.tendKeys();
    long used = 10_000 - remainingInStore("a", 10_000);
    assertThat(used).isEqualTo(node.decider.allowedCount());
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

  // ---- several limits

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
    node.decider.tendKeys();
    node.decider.tendKeys();
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
    node.decider.tendKeys();
    node.dropRefills();
    node.decider.tendKeys();
    node.decider.tendKeys();
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
    node.decider.tendKeys();
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
