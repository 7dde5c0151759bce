package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.config.Algorithm;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.Shard;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.decision.StoreDecision.Held;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits that are divided over sub-counters, on one node and on several. */
class ShardedLimitTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 1000);
  }

  private List<TestNode> nodes(int count, Plan plan) {
    return Stream.generate(
            () -> {
              TestNode node = node(plan);
              node.decider.nodes(count);
              return node;
            })
        .limit(count)
        .toList();
  }

  private static Plan divided(int shards, Algorithm algorithm, boolean strict) {
    return Plans.divided("p", shards, algorithm, strict);
  }

  private static Plan bucket(int shards, double rate, long capacity) {
    return divided(shards, new TokenBucket(rate, SECOND, capacity), false);
  }

  /** Of a thousand permits, of which none comes back in the time of a test. */
  static Stream<Plan> plansOfAThousand() {
    Algorithm bucket = new TokenBucket(64, YEAR, 1000);
    Algorithm window = new FixedWindow(1000, new Every(YEAR));
    return Stream.of(
        divided(4, bucket, false),
        divided(7, bucket, false),
        divided(64, bucket, false),
        divided(4, bucket, true),
        divided(7, window, false),
        divided(7, window, true),
        divided(4, new SlidingWindow(1000, YEAR), false),
        divided(7, new SlidingWindow(1000, YEAR), true));
  }

  private static int allowed(List<TestNode> nodes, int times) {
    int allowed = 0;
    for (int i = 0; i < times; i++) {
      allowed += nodes.get(i % nodes.size()).allowedOf(1, "a");
    }
    return allowed;
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void oneNodeAdmitsTheWholeLimitAndNoMore(Plan plan) {
    TestNode node = node(plan);
    assertThat(node.allowedOf(1200, "a")).isEqualTo(1000);
    assertThat(node.inspect("a").statuses().get(0).remaining()).isZero();
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void threeNodesAdmitTheWholeLimitAndNoMore(Plan plan) {
    List<TestNode> nodes = nodes(3, plan);
    int allowed = allowed(nodes, 1200);
    assertThat(allowed).isLessThanOrEqualTo(1000);
    // What a node holds when nobody asks it any more goes back.
    nodes.forEach(node -> node.decider.giveAllBack());
    assertThat(allowed + allowed(nodes, 100)).isEqualTo(1000);
  }

  @Test
  void remainingIsOfAllTogetherAndCountsDownWithEachRequest() {
    TestNode node = node(bucket(4, 100, 1000));
    for (int left = 999; left >= 0; left--) {
      Decision decision = node.check("a", 1);
      assertThat(decision.allowed()).isTrue();
      assertThat(decision.limit()).isEqualTo(1000);
      assertThat(decision.remaining()).isEqualTo(left);
    }
    assertThat(node.check("a", 1).allowed()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatAnEmptySubCounterLacksComesFromTheOthers(boolean strict) {
    TestNode node = node(divided(4, new TokenBucket(64, YEAR, 40), strict));
    for (int i = 0; i < 5; i++) {
      assertThat(node.check("a", 8).allowed()).as("request %s", i).isEqualTo(i < 4);
    }
    // Two are left in each.
    assertThat(node.check("a", 3).allowed()).isFalse();
    assertThat(node.check("a", 3).remaining()).isEqualTo(8);
    assertThat(node.allowedOf(10, "a")).isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCostAboveTheLargestSubCounterNeverPasses(boolean strict) {
    TestNode node = node(divided(3, new TokenBucket(1, SECOND, 10), strict));
    assertThat(node.check("a", 4).allowed()).isTrue();
    Denied denied = (Denied) node.check("a", 5);
    assertThat(denied.reason()).isEqualTo(Decision.Reason.COST_EXCEEDS_LIMIT);
    assertThat(denied.remaining()).isEqualTo(6);
  }

  @ParameterizedTest
  @MethodSource("plansThatRefill")
  void waitingForAsLongAsADenialSaysAdmits(Plan plan) {
    TestNode node = node(plan);
    clock.advance(Duration.ofMillis(777));
    int admitted = 0;
    for (int i = 0; i < 300; i++) {
      int cost = 1 + i % 3;
      Decision decision = node.check("a", cost);
      if (decision instanceof Denied denied) {
        assertThat(denied.reason()).isEqualTo(Decision.Reason.LIMIT);
        clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
        assertThat(node.check("a", cost).allowed()).as("request %s", i).isTrue();
      }
      admitted++;
      clock.advance(Duration.ofMillis(i % 5));
    }
    assertThat(admitted).isEqualTo(300);
  }

  static Stream<Plan> plansThatRefill() {
    return Stream.of(
        bucket(4, 10, 50),
        divided(4, new TokenBucket(10, SECOND, 50), true),
        bucket(3, 7, 20),
        divided(4, new FixedWindow(50, new Every(SECOND)), false),
        divided(4, new FixedWindow(50, new Every(SECOND)), true),
        divided(5, new SlidingWindow(50, SECOND), false),
        divided(5, new SlidingWindow(50, SECOND), true));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aDenialIsProvenByAllSubCounters(boolean strict) {
    TestNode one = node(divided(4, new TokenBucket(64, YEAR, 40), strict));
    TestNode two = node(divided(4, new TokenBucket(64, YEAR, 40), strict));
    assertThat(one.allowedOf(39, "a")).isEqualTo(39);
    one.decider.giveAllBack();
    assertThat(two.check("a", 1).allowed()).isTrue();
    int calls = two.storeCalls;
    assertThat(two.check("a", 1).allowed()).isFalse();
    assertThat(two.storeCalls - calls).isLessThanOrEqualTo(2 * 4);
  }

  @Test
  void aDenialThatIsProvenNeedsNoStore() {
    TestNode node = node(bucket(4, 1, 40));
    assertThat(node.allowedOf(41, "a")).isEqualTo(40);
    int calls = node.storeCalls;
    assertThat(node.allowedOf(1000, "a")).isZero();
    assertThat(node.storeCalls).isEqualTo(calls);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeekTellsOfAllSubCountersAndMovesNothing(boolean strict) {
    Plan plan = divided(4, new TokenBucket(64, YEAR, 40), strict);
    TestNode one = node(plan);
    TestNode two = node(plan);
    assertThat(one.allowedOf(17, "a")).isEqualTo(17);
    one.decider.giveAllBack();
    for (int i = 0; i < 3; i++) {
      Decision peek = two.check("a", 0);
      assertThat(peek.allowed()).isTrue();
      assertThat(peek.remaining()).isEqualTo(23);
      assertThat(two.inspect("a").statuses().get(0).remaining()).isEqualTo(23);
    }
    assertThat(two.allowedOf(30, "a")).isEqualTo(23);
  }

  @Test
  void allLimitsOfAPlanAreTakenFromTheSameSubCounters() {
    Plan plan =
        new Plan("p", List.of(limit("one", Set.of(), 12, 4), limit("two", Set.of("search"), 5, 4)));
    TestNode node = node(plan);
    int searched = 0;
    for (int i = 0; i < 8; i++) {
      searched += node.check(search(1)).orElseThrow().allowed() ? 1 : 0;
    }
    assertThat(searched).isEqualTo(5);
    assertThat(node.allowedOf(20, "a")).isEqualTo(7);
    assertThat(node.inspect("a").statuses())
        .extracting(status -> status.remaining())
        .containsExactly(0L, 0L);
  }

  private static Limit limit(String name, Set<String> endpoints, long capacity, int shards) {
    return new Limit(
        name, endpoints, new TokenBucket(64, YEAR, capacity), false, Shard.all(shards));
  }

  private static CheckRequest search(long cost) {
    return CheckRequest.of("a").withEndpoint("search").withCost(cost);
  }

  @Test
  void refillsTakeTurnsSoThatAllSubCountersAreUsedAlike() {
    TestNode node = node(bucket(4, 1000, 1000));
    node.allowedOf(400, "a");
    node.decider.giveAllBack();
    List<Double> used = new ArrayList<>();
    for (int number = 1; number <= 4; number++) {
      used.add(TestStores.level(store, "a", bucket(4, 1000, 1000).limits().get(0).part(number)));
    }
    assertThat(used.stream().mapToDouble(each -> each).sum()).isEqualTo(400);
    assertThat(used).allSatisfy(each -> assertThat(each).isBetween(20.0, 200.0));
  }

  @Test
  void permitsGoBackToWhereTheyCameFrom() {
    TestNode node = node(bucket(4, 1000, 1000));
    node.allowedOf(333, "a");
    node.decider.giveAllBack();
    assertThat(node.decider.settled()).isTrue();
    assertThat(node.inspect("a").statuses().get(0).remaining()).isEqualTo(667);
  }

  @Test
  void whatIsForgottenIsForgottenOfAllSubCounters() {
    Plan plan = bucket(4, 1, 40);
    TestNode node = node(plan);
    assertThat(node.allowedOf(41, "a")).isEqualTo(40);
    for (Shard shard : Shard.all(4).counters()) {
      assertThat(store.forget("a", shard, List.of("default")).succeeded()).isTrue();
    }
    node.decider.forget("a");
    assertThat(node.allowedOf(41, "a")).isEqualTo(40);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void dividingALimitInAnotherWayCarriesWhatTheNodeKnows(int shards) {
    TestNode node = node(bucket(4, 0.001, 100));
    assertThat(node.allowedOf(60, "a")).isEqualTo(60);
    node.decider.configure(Plans.config(bucket(shards, 0.001, 100)));
    node.tend();
    assertThat(node.allowedOf(100, "a")).isEqualTo(40);
  }

  @Test
  void dividingALimitCarriesWhatTheNodeKnows() {
    TestNode node = node(Plans.bucket("p", 0.001, SECOND, 100));
    assertThat(node.allowedOf(60, "a")).isEqualTo(60);
    node.decider.configure(Plans.config(bucket(4, 0.001, 100)));
    assertThat(node.allowedOf(100, "a")).isEqualTo(40);
  }

  @Test
  void otherNumbersKeepWhatWasUsed() {
    TestNode node = node(bucket(4, 0.001, 100));
    assertThat(node.allowedOf(60, "a")).isEqualTo(60);
    node.decider.configure(Plans.config(bucket(4, 0.001, 200)));
    assertThat(node.allowedOf(300, "a")).isEqualTo(140);
  }

  @Test
  void whatIsSpentWithoutTheStoreIsChargedToAllAlike() {
    TestNode node = node(bucket(4, 0.001, 100));
    assertThat(node.allowedOf(10, "a")).isEqualTo(10);
    node.cut();
    assertThat(node.allowedOf(200, "a")).isEqualTo(90);
    node.mend();
    clock.advance(Duration.ofSeconds(3));
    for (int i = 0; i < 3; i++) {
      node.tend();
      clock.advance(Duration.ofSeconds(3));
    }
    assertThat(node.inspect("a").statuses().get(0).remaining()).isZero();
    assertThat(node.allowedOf(10, "a")).isZero();
  }

  @Test
  void aSubCounterThatIsAwayIsPassedOver() {
    TestNode node = node(divided(4, new TokenBucket(64, YEAR, 100), true));
    node.cut(new Shard(2, 4));
    List<Decision> decisions = Stream.generate(() -> node.check("a", 1)).limit(75).toList();
    assertThat(decisions).allMatch(Decision::allowed).noneMatch(Decision::degraded);
    // All others are used up, and nobody can tell of this one.
    assertThat(node.check("a", 1).degraded()).isTrue();
    node.mend();
    clock.advance(Duration.ofSeconds(3));
    node.tend();
    clock.advance(Duration.ofSeconds(3));
    assertThat(node.check("a", 1).degraded()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("plansOfAThousand")
  void aReservationIsSettledWhereItIsHeld(Plan plan) {
    List<TestNode> nodes = nodes(2, plan);
    List<Held> held = new ArrayList<>();
    long reserved = 0;
    Optional<Held> next = reserve(nodes.get(0), "r0", 10);
    while (next.isPresent()) {
      held.add(next.get());
      reserved += 10;
      next = reserve(nodes.get(held.size() % 2), "r" + held.size(), 10);
    }
    // Of each sub-counter less than that is left.
    assertThat(reserved).isGreaterThan(1000 - 10 * plan.shards());
    assertThat(left(nodes.get(1))).isEqualTo(1000 - reserved);
    for (Held each : held) {
      assertThat(settle(nodes.get(1), each, 4)).isEqualTo(Verdict.SETTLED);
      assertThat(settle(nodes.get(0), each, 4)).isEqualTo(Verdict.BEFORE);
    }
    assertThat(left(nodes.get(0))).isEqualTo(1000 - reserved / 10 * 4);
  }

  private static long left(TestNode node) {
    return node.inspect("a").statuses().get(0).remaining();
  }

  private static Optional<Held> reserve(TestNode node, String id, long cost) {
    Purpose.Reservation reservation = new Purpose.Reservation(id, Duration.ofMinutes(1));
    return decide(node, cost, new Purpose.Decide(Optional.of(reservation), Optional.empty()))
        .reservation();
  }

  private static Decided decide(TestNode node, long cost, Purpose.Decide purpose) {
    List<StoreDecision.Outcome> outcomes = new ArrayList<>();
    node.decider.decideInStore(CheckRequest.of("a").withCost(cost), purpose, outcomes::add);
    return (Decided) outcomes.get(0);
  }

  private static Verdict settle(TestNode node, Held held, long spent) {
    List<RefillOutcome> outcomes = new ArrayList<>();
    node.decider.settle(
        "a", held.shard(), "p", new Purpose.Settle(held.id(), spent), outcomes::add);
    return ((RefillOutcome.Settled) outcomes.get(0)).verdict();
  }

  @Test
  void aDecisionThatIsMadeOnceIsMadeOnceOnAllNodes() {
    List<TestNode> nodes = nodes(2, divided(4, new TokenBucket(64, YEAR, 40), true));
    for (int i = 0; i < 12; i++) {
      Purpose.Once once = new Purpose.Once("id" + i, "check");
      Purpose.Decide purpose = new Purpose.Decide(Optional.empty(), Optional.of(once));
      Decision first = decide(nodes.get(0), 4, purpose).decision();
      assertThat(first.allowed()).isEqualTo(i < 8);
      assertThat(decide(nodes.get(1), 4, purpose).decision().allowed()).isEqualTo(i < 8);
      assertThat(decide(nodes.get(0), 4, purpose).decision().allowed()).isEqualTo(i < 8);
    }
    assertThat(left(nodes.get(1))).isEqualTo(8);
  }

  @Test
  void aDeniedReservationTellsWhenItWillFit() {
    TestNode node = node(bucket(4, 10, 40));
    for (int i = 0; i < 4; i++) {
      assertThat(reserve(node, "r" + i, 8)).isPresent();
    }
    Decision decision =
        decide(
                node,
                7,
                new Purpose.Decide(
                    Optional.of(new Purpose.Reservation("r4", Duration.ofMinutes(1))),
                    Optional.empty()))
            .decision();
    Denied denied = (Denied) decision;
    assertThat(denied.retryAfterMillis()).isEqualTo(2000);
    assertThat(denied.remaining()).isEqualTo(8);
    clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
    assertThat(reserve(node, "r5", 7)).isPresent();
  }
}
