package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.Shard;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.decision.StoreDecision.Outcome.Decided;
import dev.weir.lease.Purpose;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Verdict;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StoreDecisionTest {

  private static final Duration YEAR = Duration.ofDays(365);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);
  private int ids;

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 1000);
  }

  static List<Plan> plansOfAThousand() {
    return List.of(
        Plans.bucket("p", 1, YEAR, 1000),
        Plans.of("p", new SlidingWindow(1000, YEAR)),
        Plans.of("p", new FixedWindow(1000, new Every(YEAR))),
        Plans.of("p", new SlidingLog(1000, YEAR)),
        Plans.strict("p", new TokenBucket(1, YEAR, 1000)));
  }

  /** What is decided, once it is. */
  private List<Decided> reserve(TestNode node, CheckRequest request) {
    List<Decided> answers = new ArrayList<>();
    Purpose.Reservation reservation = new Purpose.Reservation("id" + ids++, MINUTE);
    node.decider.decideInStore(
        request,
        new Purpose.Decide(Optional.of(reservation), Optional.empty()),
        outcome -> answers.add((Decided) outcome));
    return answers;
  }

  private Decided reserve(TestNode node, String key, long cost) {
    return reserve(node, CheckRequest.of(key).withCost(cost)).get(0);
  }

  private static List<RefillOutcome> settle(TestNode node, String key, String id, long spent) {
    List<RefillOutcome> answers = new ArrayList<>();
    node.decider.settle(key, Shard.WHOLE, "p", new Purpose.Settle(id, spent), answers::add);
    return answers;
  }

  private static Verdict verdict(List<RefillOutcome> outcomes) {
    return ((RefillOutcome.Settled) outcomes.get(0)).verdict();
  }

  private static long left(TestNode node, String key) {
    return node.inspect(key).statuses().get(0).remaining();
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void aReservationIsChargedAtOnceAndSettledOnAnyNode(Plan plan) {
    TestNode one = node(plan);
    TestNode two = node(plan);
    Decided decided = reserve(one, "a", 600);
    assertThat(decided.decision().allowed()).isTrue();
    assertThat(decided.decision().remaining()).isEqualTo(400);
    assertThat(two.check("a", 401).allowed()).isFalse();
    assertThat(left(two, "a")).isEqualTo(400);

    String id = decided.reservation().orElseThrow().id();
    assertThat(verdict(settle(two, "a", id, 100))).isEqualTo(Verdict.SETTLED);
    assertThat(verdict(settle(one, "a", id, 100))).isEqualTo(Verdict.BEFORE);
    assertThat(left(one, "a")).isEqualTo(900);
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void aDeniedReservationTellsWhenItWillFit(Plan plan) {
    TestNode node = node(plan);
    node.check("a", 700);
    Decided decided = reserve(node, "a", 400);
    assertThat(decided.reservation()).isEmpty();
    Denied denied = (Denied) decided.decision();
    assertThat(denied.reason()).isEqualTo(Decision.Reason.LIMIT);
    clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
    assertThat(reserve(node, "a", 400).decision().allowed()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void aReservationAboveTheLimitNeverFits(Plan plan) {
    Denied denied = (Denied) reserve(node(plan), "a", 1001).decision();
    assertThat(denied.reason()).isEqualTo(Decision.Reason.COST_EXCEEDS_LIMIT);
    assertThat(denied.retryAfterMillis()).isEqualTo(Denied.NEVER);
  }

  @Test
  void whatTheStoreHasAuthorizedIsToldOfTheWindowOfItsWord() {
    TestNode node = node(Plans.of("p", new SlidingLog(1000, YEAR)));
    decideOnce(node, "a", 5);
    clock.advance(MINUTE);
    decideOnce(node, "a", 7);
    assertThat(node.usage.authorized().values()).containsExactlyInAnyOrder(5L, 7L);
    assertThat(node.usage.authorized()).isEqualTo(node.usage.spentWithStore());
  }

  private void decideOnce(TestNode node, String key, long cost) {
    Purpose.Once once = new Purpose.Once("id" + ids++, "check");
    node.decider.decideInStore(
        CheckRequest.of(key).withCost(cost),
        new Purpose.Decide(Optional.empty(), Optional.of(once)),
        outcome -> assertThat(((Decided) outcome).decision().allowed()).isTrue());
  }

  @Test
  void permitsHeldHereDoNotDenyAReservation() {
    TestNode node = node(Plans.bucket("p", 100, Duration.ofSeconds(1), 1000));
    node.allowedOf(100, "a");
    long held = node.decider.outstanding();
    assertThat(held).isPositive();
    assertThat(reserve(node, "a", 900).decision().allowed()).isTrue();
    assertThat(node.decider.outstanding()).isZero();
    assertThat(left(node, "a")).isZero();
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @Test
  void whatIsReleasedElsewhereIsSeenWithinASecondThoughItWouldTakeDaysToRefill() {
    TestNode one = node(Plans.bucket("p", 1, YEAR, 10));
    TestNode two = node(Plans.bucket("p", 1, YEAR, 10));
    String id = reserve(one, "a", 10).reservation().orElseThrow().id();
    assertThat(two.check("a", 1).allowed()).isFalse();
    settle(one, "a", id, 0);
    int calls = two.storeCalls;
    assertThat(two.check("a", 1).allowed()).isFalse();
    assertThat(two.storeCalls).isEqualTo(calls);
    clock.advance(Duration.ofMillis(1001));
    assertThat(two.check("a", 10).allowed()).isTrue();
  }

  @Test
  void onlyTheLimitsOfTheEndpointAreHeld() {
    Limit all = Plans.limit("all", 1, YEAR, 100);
    Limit search = new Limit("search", Set.of("search"), new TokenBucket(1, YEAR, 20));
    TestNode node = node(new Plan("p", List.of(all, search)));
    CheckRequest request = CheckRequest.of("a").withEndpoint("search");
    Decided decided = reserve(node, request).get(0);
    assertThat(decided.decision().limits()).hasSize(2);
    assertThat(decided.decision().remaining()).isEqualTo(10);
    reserve(node, CheckRequest.of("a").withEndpoint("other").withCost(50));
    List<Long> left = node.inspect("a").statuses().stream().map(s -> s.remaining()).toList();
    assertThat(left).containsExactly(40L, 10L);
    assertThat(reserve(node, request.withCost(11)).get(0).decision().status().policy().name())
        .isEqualTo("search");
  }

  @Test
  void aShadowPlanHoldsNothingThatItWouldDeny() {
    TestNode node = node(Plans.shadow(Plans.bucket("p", 1, YEAR, 10)));
    assertThat(reserve(node, "a", 6).reservation()).isPresent();
    Decided beyond = reserve(node, "a", 6);
    assertThat(beyond.decision().allowed()).isTrue();
    assertThat(beyond.reservation()).isEmpty();
    assertThat(node.decider.decisions().wouldDenyCount()).isEqualTo(1);
    assertThat(left(node, "a")).isEqualTo(4);
  }

  // ---- without the store

  @Test
  void aStoreThatIsAwayIsDoneWithoutAndHearsOfItLater() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.check("a", 1);
    node.cut();
    Decided decided = reserve(node, "a", 4);
    assertThat(decided.decision().allowed()).isTrue();
    assertThat(decided.decision().degraded()).isTrue();
    assertThat(decided.reservation()).isEmpty();
    assertThat(reserve(node, "a", 6).decision().allowed()).isFalse();
    assertThat(settle(node, "a", "id0", 0).get(0)).isInstanceOf(RefillOutcome.Unavailable.class);
    node.mend();
    node.tend();
    assertThat(left(node, "a")).isEqualTo(5);
    node.decider.giveAllBack();
    assertThat(node.decider.settled()).isTrue();
  }

  @Test
  void permitsThatWereToGoBackStayOwedWhenTheStoreIsAway() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(10, "a");
    long held = node.decider.outstanding();
    assertThat(held).isPositive();
    node.cut();
    assertThat(reserve(node, "a", 500).decision().degraded()).isTrue();
    node.mend();
    node.tend();
    assertThat(left(node, "a")).isEqualTo(10_000 - 10 - 500);
  }

  @Test
  void aReservationThatTheStoreMakesTooLateIsReleased() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.hold();
    List<Decided> answers = reserve(node, CheckRequest.of("a").withCost(4));
    assertThat(answers).isEmpty();
    node.overdue();
    assertThat(answers).hasSize(1);
    assertThat(answers.get(0).decision().degraded()).isTrue();
    assertThat(answers.get(0).reservation()).isEmpty();
    node.release();
    assertThat(answers).hasSize(1);
    node.tend();
    assertThat(left(node, "a")).isEqualTo(6);
    assertThat(verdict(settle(node, "a", "id0", 0))).isEqualTo(Verdict.BEFORE);
  }

  @Test
  void aReservationWhoseAnswerIsLostEndsByItself() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    node.hold();
    List<Decided> answers = reserve(node, CheckRequest.of("a").withCost(4));
    node.loseAnswers();
    assertThat(answers.get(0).decision().degraded()).isTrue();
    node.tend();
    assertThat(left(node, "a")).isEqualTo(2);
    clock.advance(MINUTE);
    assertThat(left(node, "a")).isEqualTo(6);
  }

  @Test
  void aSettlementWhoseAnswerIsLateIsUnavailableAndMayBeRepeated() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10));
    reserve(node, "a", 4);
    node.hold();
    List<RefillOutcome> answers = settle(node, "a", "id0", 0);
    node.overdue();
    assertThat(answers).hasOnlyElementsOfType(RefillOutcome.Unavailable.class);
    node.release();
    assertThat(answers).hasSize(1);
    assertThat(verdict(settle(node, "a", "id0", 0))).isEqualTo(Verdict.BEFORE);
    assertThat(left(node, "a")).isEqualTo(10);
  }

  @Test
  void allGoesBackThoughTheNodeThatReservedIsGone() {
    Plan plan = Plans.bucket("p", 1, YEAR, 10);
    reserve(node(plan), "a", 7);
    clock.advance(MINUTE.minusMillis(1));
    assertThat(left(node(plan), "a")).isEqualTo(3);
    clock.advance(Duration.ofMillis(1));
    assertThat(left(node(plan), "a")).isEqualTo(10);
    assertThat(node(plan).check("a", 10).allowed()).isTrue();
  }
}
