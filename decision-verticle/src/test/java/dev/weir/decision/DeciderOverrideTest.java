package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.Algorithm;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.FixedWindow;
import dev.weir.config.KeyFormat;
import dev.weir.config.KeyOverride;
import dev.weir.config.Plan;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What numbers of their own, and other changes of numbers, do to keys that have used some. */
class DeciderOverrideTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 1000);
  }

  private static ConfigSnapshot config(Map<String, KeyOverride> overrides, Plan... plans) {
    ConfigSnapshot without = Plans.config(plans);
    return new ConfigSnapshot(
        without.version(),
        without.defaultPlan(),
        without.plans(),
        without.endpoints(),
        without.gateway(),
        without.regions(),
        without.assignments(),
        overrides);
  }

  private static Map<String, KeyOverride> own(String key, Map<String, ?> numbers) {
    return Map.of(key, KeyFormat.parse(numbers, 0).override().orElseThrow());
  }

  private static Map<String, KeyOverride> limit(String key, long limit) {
    return own(key, Map.of("limit", limit));
  }

  /** Algorithms of a minute, by their limit. */
  static List<LongFunction<Algorithm>> ofAMinute() {
    return List.of(
        limit -> new TokenBucket(limit, MINUTE, limit),
        limit -> new SlidingWindow(limit, MINUTE),
        limit -> new FixedWindow(limit, new Every(MINUTE)),
        limit -> new SlidingLog(limit, MINUTE));
  }

  @ParameterizedTest
  @MethodSource("ofAMinute")
  void limitTenFiftyCallsRaisedToTwentyIsTenMore(LongFunction<Algorithm> algorithm) {
    Plan plan = Plans.of("p", algorithm.apply(10));
    TestNode node = node(plan);
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
    node.decider.configure(config(limit("a", 20), plan));
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
    assertThat(node.allowedOf(50, "b")).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("ofAMinute")
  void ninetyOfOneHundredUsedSetToFiftyAndToOneHundredIsTenLeft(LongFunction<Algorithm> algorithm) {
    Plan plan = Plans.of("p", algorithm.apply(100));
    TestNode node = node(plan);
    node.allowedOf(90, "a");
    node.decider.configure(config(limit("a", 50), plan));
    assertThat(node.check("a", 0).remaining()).isZero();
    assertThat(node.allowedOf(10, "a")).isZero();
    node.decider.configure(config(limit("a", 100), plan));
    assertThat(node.check("a", 0).remaining()).isEqualTo(10);
    assertThat(node.allowedOf(50, "a")).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("ofAMinute")
  void eightyUsedAndCutToFiftyByAnOverrideIsDeniedForAsLongAsItSays(
      LongFunction<Algorithm> algorithm) {
    Plan plan = Plans.of("p", algorithm.apply(100));
    TestNode node = node(plan);
    node.allowedOf(80, "a");
    node.decider.configure(config(limit("a", 50), plan));
    assertDeniedForAsLongAsItSays(node);
  }

  @ParameterizedTest
  @MethodSource("ofAMinute")
  void eightyUsedAndCutToFiftyByThePlanIsDeniedForAsLongAsItSays(
      LongFunction<Algorithm> algorithm) {
    TestNode node = node(Plans.of("p", algorithm.apply(100)));
    node.allowedOf(80, "a");
    node.decider.configure(Plans.config(Plans.of("p", algorithm.apply(50))));
    assertDeniedForAsLongAsItSays(node);
  }

  @ParameterizedTest
  @MethodSource("ofAMinute")
  void anOverrideKeepsWhatWasUsedWhenItComesAndWhenItGoes(LongFunction<Algorithm> algorithm) {
    Plan plan = Plans.of("p", algorithm.apply(100));
    TestNode node = node(plan);
    assertThat(node.allowedOf(200, "a")).isEqualTo(100);
    node.decider.configure(config(limit("a", 500), plan));
    assertThat(node.check("a", 0).remaining()).isEqualTo(400);
    assertThat(node.allowedOf(50, "a")).isEqualTo(50);

    node.decider.configure(Plans.config(plan));
    assertThat(node.check("a", 0).remaining()).isZero();
    assertDeniedForAsLongAsItSays(node);
  }

  private void assertDeniedForAsLongAsItSays(TestNode node) {
    Decision denied = node.check("a", 1);
    assertThat(denied.allowed()).isFalse();
    assertThat(denied.retryAfterMillis()).isPositive();
    clock.advance(Duration.ofMillis(denied.retryAfterMillis() - 1));
    assertThat(node.check("a", 1).allowed()).isFalse();
    clock.advance(Duration.ofMillis(1));
    assertThat(node.check("a", 1).allowed()).isTrue();
  }

  @Test
  void anOverrideIsLeasedLikeAPlan() {
    Plan plan = Plans.bucket("p", 1, YEAR, 10);
    TestNode node = node(plan);
    node.decider.configure(config(own("a", Map.of("capacity", 50_000)), plan));
    assertThat(node.allowedOf(10_000, "a")).isEqualTo(10_000);
    assertThat(node.storeCalls).isLessThan(9 + 10_000 * 8 / (500 * 7) + 5);
  }

  @Test
  void permitsHeldForTheKeyGoBackAndThoseOfOthersStay() {
    Plan plan = Plans.bucket("p", 1, YEAR, 10_000);
    TestNode node = node(plan);
    node.allowedOf(100, "b");
    long ofOthers = node.decider.outstanding();
    node.allowedOf(100, "a");
    node.decider.configure(config(limit("a", 20_000), plan));
    assertThat(node.decider.outstanding()).isEqualTo(ofOthers);
    assertThat(node.inspect("a").statuses().get(0).remaining()).isEqualTo(19_900);
    node.allowedOf(100, "a");
    node.decider.configure(Plans.config(plan));
    assertThat(node.decider.outstanding()).isEqualTo(ofOthers);
    assertThat(node.inspect("a").statuses().get(0).remaining()).isEqualTo(9_800);
  }

  @Test
  void anOverrideHoldsUnderAPlanThatTheCallerNamesAsWell() {
    Plan small = Plans.bucket("small", 1, YEAR, 10);
    Plan large = Plans.bucket("large", 1, YEAR, 100);
    TestNode node = node(small, large);
    node.decider.configure(config(limit("a", 500), small, large));
    CheckRequest request = CheckRequest.of("a").withPlan("large").withCost(20);
    for (int left = 480; left >= 400; left -= 20) {
      Decision decision = node.check(request).orElseThrow();
      assertThat(decision.plan()).isEqualTo("large");
      assertThat(decision.limit()).isEqualTo(500);
      assertThat(decision.remaining()).isEqualTo(left);
    }
    assertThat(node.check("a", 1).remaining()).isEqualTo(399);
  }

  @Test
  void anOverrideOfOneOfSeveralLimitsLeavesTheOthersAlone() {
    Plan plan =
        new Plan("p", List.of(Plans.limit("one", 1, YEAR, 3), Plans.limit("two", 1, YEAR, 10)));
    TestNode node = node(plan);
    node.decider.configure(config(own("a", Map.of("name", "one", "limit", 6)), plan));
    assertThat(node.allowedOf(50, "a")).isEqualTo(6);
    assertThat(node.allowedOf(50, "b")).isEqualTo(3);
    node.decider.configure(config(own("a", Map.of("name", "one", "limit", 20)), plan));
    assertThat(node.allowedOf(50, "a")).isEqualTo(4);
  }

  @Test
  void callersWhoWaitAreAnsweredByTheNumbersOfAnOverrideThatCameMeanwhile() {
    Plan plan = Plans.bucket("p", 1, YEAR, 5);
    TestNode node = node(plan);
    node.hold();
    List<List<Decision>> answers =
        IntStream.range(0, 20).mapToObj(i -> node.ask(CheckRequest.of("a"))).toList();
    node.decider.configure(config(limit("a", 12), plan));
    node.release();
    assertThat(answers).allMatch(answer -> answer.size() == 1);
    assertThat(answers).filteredOn(answer -> answer.get(0).allowed()).hasSize(12);
  }

  @Test
  void aLimitOfZeroBarsTheKeyAlone() {
    Plan plan = Plans.bucket("p", 1, YEAR, 100);
    TestNode node = node(plan);
    node.allowedOf(20, "a");
    node.decider.configure(config(limit("a", 0), plan));
    assertThat(node.allowedOf(20, "a")).isZero();
    assertThat(node.allowedOf(20, "b")).isEqualTo(20);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void numbersThatChangeWhileALeaseIsLookedAtHaveItsPermitsGivenBackWithinASecond(int moment) {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 50_000));
    node.allowedOf(100, "a");
    clock.advance(Duration.ofMillis(1_900));
    node.allowedOf(1_000, "a");
    assertThat(node.decider.outstanding()).isPositive();

    // It has been renewed since it was put among those to be looked at now.
    clock.advance(Duration.ofMillis(200));
    ConfigSnapshot lower = Plans.config(Plans.bucket("p", 1, YEAR, 20_000));
    clock.atRead(moment, () -> node.decider.configure(lower));
    node.endLeases();
    for (int i = 0; i < 4; i++) {
      clock.advance(Duration.ofMillis(250));
      node.tend();
    }

    assertThat(node.decider.outstanding()).isZero();
  }
}
