package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.OnStoreFailure;
import dev.weir.config.Plan;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What plans have to say on a store that is away, and what becomes of it when the store is back.
 */
class DeciderStoreFailureTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 20_000);
  }

  private static Plan open(Plan plan) {
    return Plans.onStoreFailure(OnStoreFailure.OPEN, plan);
  }

  private static Plan closed(Plan plan) {
    return Plans.onStoreFailure(OnStoreFailure.CLOSED, plan);
  }

  static Stream<Plan> plansOfTen() {
    return Stream.of(
        Plans.bucket("p", 1, YEAR, 10),
        Plans.of("p", new FixedWindow(10, new Every(YEAR))),
        Plans.of("p", new SlidingWindow(10, YEAR)),
        Plans.of("p", new SlidingLog(10, YEAR)),
        Plans.strict("p", new TokenBucket(1, YEAR, 10)));
  }

  private long remainingInStore(Plan plan) {
    return node(plan).inspect("a").statuses().get(0).remaining();
  }

  private static void settle(TestNode node) {
    for (int i = 0; i < 3; i++) {
      node.tend();
    }
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void anOpenPlanAllowsAllThatItsLimitsCanHoldAndChargesItLater(Plan plan) {
    TestNode node = node(open(plan));
    node.cut();
    for (int i = 0; i < 25; i++) {
      Decision decision = node.check("a", 1);
      assertThat(decision.allowed()).isTrue();
      assertThat(decision.degraded()).isTrue();
      assertThat(decision.remaining()).isEqualTo(Math.max(0, 9 - i));
    }
    assertThat(node.decider.decisions().degradedAllowedCount()).isEqualTo(25);
    Denied never = (Denied) node.check("a", 11);
    assertThat(never.reason()).isEqualTo(Reason.COST_EXCEEDS_LIMIT);
    assertThat(never.retryAfterMillis()).isEqualTo(Denied.NEVER);
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isZero();
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void anOpenPlanGoesOnForAKeyThatTheStoreHasToldOf(Plan plan) {
    TestNode node = node(open(plan));
    node.check("a", 3);
    node.cut();
    assertThat(node.allowedOf(50, "a")).isEqualTo(50);
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isZero();
    assertThat(node.allowedOf(5, "a")).isZero();
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void anOpenPlanDeniesByTheStoresLastWordForASecondAtMost(Plan plan) {
    TestNode node = node(open(plan));
    assertThat(node.allowedOf(11, "a")).isEqualTo(10);
    node.cut();
    clock.advance(Duration.ofMillis(1_001));
    assertThat(node.allowedOf(20, "a")).isEqualTo(20);
    node.mend();
    settle(node);
    assertThat(node.allowedOf(5, "a")).isZero();
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void anOpenPlanDeniesNobodyOnceTheStoreIsKnownToBeAway(Plan plan) {
    TestNode node = node(open(plan));
    assertThat(node.allowedOf(11, "a")).isEqualTo(10);
    node.cut();
    node.check("b", 1);
    assertThat(node.allowedOf(20, "a")).isEqualTo(20);
  }

  @Test
  void aDebtGoesOnToLeakUnderANewPlanThoughNobodyAsksForTheKey() {
    TestNode node = node(open(Plans.bucket("p", 10, SECOND, 100)));
    node.cut();
    assertThat(node.allowedOf(150, "a")).isEqualTo(150);
    node.decider.configure(Plans.config(open(Plans.bucket("p", 10, SECOND, 200))));
    node.tend();
    clock.advance(Duration.ofSeconds(12));
    node.tend();
    node.mend();
    settle(node);
    assertThat(remainingInStore(Plans.bucket("p", 10, SECOND, 200))).isBetween(169L, 170L);
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void aClosedPlanRefusesWhatNoPermitIsHeldForAndChargesNothing(Plan plan) {
    TestNode node = node(closed(plan));
    node.check("a", 3);
    node.cut();
    Denied refused = (Denied) node.check("a", 1);
    assertThat(refused.reason()).isEqualTo(Reason.STORE_AWAY);
    assertThat(refused.degraded()).isTrue();
    assertThat(refused.retryAfterMillis()).isEqualTo(1_000);
    assertThat(refused.remaining()).isEqualTo(7);
    assertThat(((Denied) node.check("a", 11)).reason()).isEqualTo(Reason.COST_EXCEEDS_LIMIT);
    assertThat(node.check("b", 0).allowed()).isTrue();
    assertThat(node.decider.decisions().refusedCount()).isEqualTo(1);
    assertThat(node.decider.decisions().degradedDeniedCount()).isZero();
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isEqualTo(7);
    assertThat(node.check("a", 7).allowed()).isTrue();
  }

  @Test
  void aClosedPlanSpendsThePermitsThatItHolds() {
    TestNode node = node(closed(Plans.bucket("p", 1, YEAR, 100_000)));
    node.allowedOf(100, "a");
    long held = node.decider.outstanding();
    assertThat(held).isPositive();
    node.cut();
    for (long i = 0; i < held; i++) {
      assertThat(node.check("a", 1).degraded()).isFalse();
    }
    assertThat(((Denied) node.check("a", 1)).reason()).isEqualTo(Reason.STORE_AWAY);
  }

  @Test
  void whoWaitsForAStoreThatIsLateIsAnsweredAsThePlanHasIt() {
    TestNode node = node(closed(Plans.bucket("p", 1, YEAR, 10)));
    node.hold();
    List<List<Decision>> answers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      answers.add(node.ask(CheckRequest.of("a")));
    }
    node.overdue();
    assertThat(answers)
        .allSatisfy(
            answer ->
                assertThat(answer)
                    .singleElement()
                    .satisfies(
                        decision ->
                            assertThat(((Denied) decision).reason()).isEqualTo(Reason.STORE_AWAY)));
    // The refill that was late brings permits, which are there for who comes next.
    node.release();
    assertThat(node.allowedOf(20, "a")).isEqualTo(10);
  }

  @Test
  void ofSeveralLimitsARefusalTellsOfTheOneThatHasNoPermitsHere() {
    Limit loose = Plans.limit("loose", 1, YEAR, 1_000_000);
    Limit tight = Plans.limit("tight", 1, YEAR, 10);
    TestNode node = node(closed(new Plan("p", List.of(loose, tight))));
    node.check("a", 1);
    node.cut();
    Denied refused = (Denied) node.check("a", 1);
    assertThat(refused.status().policy().name()).isEqualTo("loose");
    assertThat(refused.limits()).hasSize(2);
  }

  @Test
  void aLimitThatDoesNotApplyHoldsNobodyUp() {
    Limit search = new Limit("search", Set.of("search"), new TokenBucket(1, YEAR, 10));
    TestNode node = node(closed(new Plan("p", List.of(search))));
    node.cut();
    assertThat(node.check(CheckRequest.of("a").withEndpoint("other")).orElseThrow().allowed())
        .isTrue();
    assertThat(
            node.check(CheckRequest.of("a").withEndpoint("search").withCost(1))
                .orElseThrow()
                .allowed())
        .isFalse();
  }

  @Test
  void aShadowRefusesNobody() {
    TestNode node = node(Plans.shadow(closed(Plans.bucket("p", 1, YEAR, 10))));
    node.cut();
    Decision decision = node.check("a", 1);
    assertThat(decision.allowed()).isTrue();
    assertThat(decision.degraded()).isTrue();
    assertThat(node.decider.decisions().wouldDenyCount()).isEqualTo(1);
    assertThat(node.decider.decisions().refusedCount()).isZero();
  }

  @Test
  void anotherWordOnTheStoreHoldsAtOnce() {
    Plan plan = Plans.bucket("p", 1, YEAR, 90);
    TestNode node = node(closed(plan));
    node.decider.nodes(3);
    node.cut();
    assertThat(node.check("a", 1).allowed()).isFalse();
    node.decider.configure(Plans.config(open(plan)));
    assertThat(node.allowedOf(60, "a")).isEqualTo(60);
    // Two thirds of its part more than that.
    node.decider.configure(Plans.config(plan));
    assertThat(node.allowedOf(60, "a")).isZero();
    node.decider.configure(Plans.config(closed(plan)));
    assertThat(node.allowedOf(10, "a")).isZero();
    // What the part had was spent, however often it is turned to.
    node.decider.configure(Plans.config(plan));
    assertThat(node.allowedOf(60, "a")).isZero();
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isEqualTo(30);
  }

  @Test
  void whoWaitsIsAnsweredByThePlanThatHoldsWhenTheStoreFails() {
    Plan plan = Plans.bucket("p", 1, YEAR, 90);
    TestNode node = node(plan);
    node.hold();
    List<Decision> answer = node.ask(CheckRequest.of("a"));
    node.decider.configure(Plans.config(closed(plan)));
    node.overdue();
    assertThat(((Denied) answer.get(0)).reason()).isEqualTo(Reason.STORE_AWAY);
  }

  @Test
  void aBucketGoesOnForAsLongAsTheStoreIsAwayAndOwesWhatHasNotLeakedSince() {
    Plan plan = Plans.bucket("p", 10, SECOND, 100);
    TestNode node = node(plan);
    assertThat(node.allowedOf(150, "a")).isEqualTo(100);
    node.cut();
    long allowed = 0;
    for (int i = 0; i < 600; i++) {
      clock.advance(Duration.ofMillis(100));
      allowed += node.allowedOf(3, "a");
    }
    assertThat(allowed).isBetween(599L, 600L);
    node.mend();
    settle(node);
    // As if the store had been there: the bucket is empty, and not in debt.
    assertThat(remainingInStore(plan)).isBetween(0L, 1L);
    clock.advance(SECOND);
    assertThat(node.allowedOf(50, "a")).isBetween(9, 11);
  }

  @Test
  void aBucketThatIsNotUsedAnyMoreOwesLessAndLess() {
    Plan plan = open(Plans.bucket("p", 10, SECOND, 100));
    TestNode node = node(plan);
    node.cut();
    assertThat(node.allowedOf(150, "a")).isEqualTo(150);
    clock.advance(Duration.ofSeconds(12));
    node.tend();
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isBetween(69L, 70L);
  }

  @Test
  void whatWasSpentInAWindowThatIsOverIsOwedNoMore() {
    Plan plan = Plans.of("p", new FixedWindow(10, new Every(Duration.ofSeconds(10))));
    TestNode node = node(plan);
    node.check("a", 1);
    node.cut();
    for (int i = 0; i < 5; i++) {
      assertThat(node.allowedOf(20, "a")).isBetween(9, 10);
      clock.advance(Duration.ofSeconds(10));
    }
    node.tend();
    node.mend();
    settle(node);
    assertThat(remainingInStore(plan)).isEqualTo(10);
  }

  @Test
  void debtsNeverOverflow() {
    TestNode node = node(open(Plans.bucket("p", 1, SECOND, 1_000_000_000_000L)));
    node.cut();
    for (int i = 0; i < 5_000; i++) {
      assertThat(node.check("a", 1_000_000_000_000L).allowed()).isTrue();
    }
    node.mend();
    settle(node);
    assertThat(node.decider.settled()).isTrue();
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void absenceIsSeenFromItsFirstCallUntilTheStoreHasBeenBackForAWhile() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.check("a", 1);
    assertThat(node.decider.degraded()).isFalse();
    node.cut();
    node.check("a", 1);
    assertThat(node.decider.degraded()).isTrue();
    node.mend();
    node.check("b", 1);
    assertThat(node.decider.degraded()).isTrue();
    clock.advance(Duration.ofSeconds(2));
    node.tend();
    assertThat(node.decider.degraded()).isFalse();
  }

  @Test
  void aChargeOfALimitThatIsNoMoreIsMadeWhenTheStoreIsBack() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    node.cut();
    assertThat(node.allowedOf(40, "a")).isEqualTo(40);
    node.decider.configure(Plans.config(new Plan("p", List.of(Plans.limit("other", 1, YEAR, 90)))));
    settle(node);
    assertThat(node.decider.settled()).isFalse();
    node.mend();
    settle(node);
    assertThat(node.decider.settled()).isTrue();
    assertThat(remainingInStore(Plans.bucket("p", 1, YEAR, 90))).isEqualTo(50);
  }

  @Test
  void chargesOfLimitsThatAreNoMoreAreBoundedAndCounted() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 90));
    node.cut();
    for (int i = 0; i < Orphans.MOST + 5; i++) {
      node.check("key" + i, 1);
    }
    assertThat(node.decider.forgottenCount()).isZero();
    node.decider.configure(Plans.config(new Plan("p", List.of(Plans.limit("other", 1, YEAR, 90)))));
    assertThat(node.decider.forgottenCount()).isEqualTo(5);
    node.mend();
    settle(node);
    assertThat(node.decider.settled()).isTrue();
  }

  @Test
  void lookingAtAKeyWithoutTheStoreLeavesNoTrace() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.cut();
    KeyLimits limits = node.inspect("nobody");
    assertThat(limits.degraded()).isTrue();
    assertThat(limits.statuses().get(0).remaining()).isEqualTo(10);
    assertThat(node.decider.keys()).isZero();
  }
}
