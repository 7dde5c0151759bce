package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.Plan;
import dev.weir.config.SlidingLog;
import dev.weir.config.TokenBucket;
import dev.weir.decision.Reservations.Reserved;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests with an id, on one node and on two. */
class OnceTest {

  private static final Duration YEAR = Duration.ofDays(365);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static final int IDS = 1_000;

  private final Vertx vertx = Vertx.vertx();
  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  @AfterEach
  void close() {
    vertx.close().await();
  }

  static List<Plan> strictPlansOfTen() {
    return List.of(
        Plans.strict("p", new TokenBucket(1, YEAR, 10)), Plans.of("p", new SlidingLog(10, YEAR)));
  }

  static List<Plan> plansOfTen() {
    return List.of(
        Plans.bucket("p", 1, YEAR, 10),
        Plans.strict("p", new TokenBucket(1, YEAR, 10)),
        Plans.of("p", new SlidingLog(10, YEAR)));
  }

  private TestNode node(Plan plan) {
    return new TestNode(clock, store, Plans.config(plan), 1000);
  }

  private LocalLimiter limiter(TestNode node) {
    return new LocalLimiter(vertx, node.decider, IDS);
  }

  private static long left(TestNode node) {
    return node.inspect("a").statuses().get(0).remaining();
  }

  private static CheckRequest request(long cost, String id) {
    return CheckRequest.of("a").withCost(cost).withId(id);
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void aRepeatedCheckIsTheSameAndChargedOnceForAMinute(Plan plan) {
    TestNode node = node(plan);
    LocalLimiter limiter = limiter(node);
    Decision first = limiter.check(request(4, "x")).await();
    clock.advance(MINUTE.minusMillis(1));
    assertThat(limiter.check(request(4, "x")).await()).isSameAs(first);
    assertThat(left(node)).isEqualTo(6);
    clock.advance(Duration.ofMillis(1));
    assertThat(limiter.check(request(4, "x")).await().remaining()).isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void aDenialIsRepeatedToo(Plan plan) {
    TestNode node = node(plan);
    LocalLimiter limiter = limiter(node);
    node.check("a", 8);
    Decision denied = limiter.check(request(4, "x")).await();
    assertThat(denied.allowed()).isFalse();
    assertThat(limiter.check(request(4, "x")).await()).isSameAs(denied);
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void theSameIdWithAnotherRequestIsRefusedAndSpendsNothing(Plan plan) {
    TestNode node = node(plan);
    LocalLimiter limiter = limiter(node);
    limiter.check(request(4, "x")).await();
    assertReused(limiter.check(request(3, "x")));
    assertReused(limiter.check(request(4, "x").withEndpoint("other")));
    assertReused(limiter.check(request(4, "x").withPlan("p")));
    assertReused(limiter.reserve(request(4, "x"), MINUTE));
    assertThat(limiter.check(CheckRequest.of("b").withId("x")).await().allowed()).isTrue();
    assertThat(limiter.check(request(1, "X")).await().allowed()).isTrue();
    assertThat(left(node)).isEqualTo(5);
  }

  private static void assertReused(Future<?> future) {
    assertThatThrownBy(future::await)
        .isInstanceOfSatisfying(
            CheckRefusedException.class, e -> assertThat(e.code()).isEqualTo(422));
  }

  @ParameterizedTest
  @MethodSource("strictPlansOfTen")
  void aStrictCheckIsChargedOnceOnAllNodes(Plan plan) {
    TestNode one = node(plan);
    TestNode two = node(plan);
    Decision first = limiter(one).check(request(4, "x")).await();
    clock.advance(Duration.ofSeconds(5));
    one.check("a", 1);
    assertThat(limiter(two).check(request(4, "x")).await()).isEqualTo(first);
    assertThat(left(two)).isEqualTo(5);
    assertReused(limiter(two).check(request(5, "x")));
    assertThat(two.decider.decisions().allowedCount()).isZero();
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void aRepeatedReservationIsTheFirstOnAnyNode(Plan plan) {
    TestNode one = node(plan);
    TestNode two = node(plan);
    Reserved first = limiter(one).reserve(request(4, "x"), MINUTE).await();
    assertThat(limiter(one).reserve(request(4, "x"), MINUTE).await()).isEqualTo(first);
    assertThat(limiter(two).reserve(request(4, "x"), MINUTE).await()).isEqualTo(first);
    assertReused(limiter(two).reserve(request(4, "x"), MINUTE.multipliedBy(2)));
    assertThat(left(two)).isEqualTo(6);
  }

  @ParameterizedTest
  @MethodSource("plansOfTen")
  void whoAsksMeanwhileGetsWhatTheFirstGets(Plan plan) {
    TestNode node = node(plan);
    LocalLimiter limiter = limiter(node);
    node.hold();
    Future<Decision> first = limiter.check(request(4, "x"));
    Future<Decision> second = limiter.check(request(4, "x"));
    assertThat(first.isComplete()).isFalse();
    assertThat(second.isComplete()).isFalse();
    node.release();
    assertThat(second.await()).isSameAs(first.await());
    assertThat(left(node)).isEqualTo(6);
  }

  @Test
  void theLatestIdsAreKnownHoweverManyCameBefore() {
    LocalLimiter limiter = limiter(node(Plans.bucket("p", 1, YEAR, 1_000_000)));
    Decision forgotten = limiter.check(request(1, "0")).await();
    for (int i = 1; i < 2 * IDS; i++) {
      limiter.check(request(1, Integer.toString(i)));
    }
    Decision first = limiter.check(request(4, "x")).await();
    for (int i = 1; i < IDS; i++) {
      limiter.check(request(1, "later " + i));
    }
    assertThat(limiter.check(request(4, "x")).await()).isSameAs(first);
    assertThat(limiter.check(request(1, "0")).await()).isNotSameAs(forgotten);
  }

  @Test
  void aRefusalIsNotKept() {
    LocalLimiter limiter = limiter(node(Plans.bucket("p", 1, YEAR, 10)));
    CheckRequest unknown = request(1, "x").withPlan("nowhere");
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> limiter.check(unknown).await())
          .isInstanceOfSatisfying(
              CheckRefusedException.class, e -> assertThat(e.code()).isEqualTo(404));
    }
    assertThat(limiter.check(request(1, "x")).await().allowed()).isTrue();
  }

  @Test
  void aDegradedDecisionIsRepeatedOnItsNode() {
    TestNode node = node(Plans.strict("p", new TokenBucket(1, YEAR, 10)));
    LocalLimiter limiter = limiter(node);
    node.cut();
    Decision first = limiter.check(request(4, "x")).await();
    assertThat(first.degraded()).isTrue();
    node.mend();
    assertThat(limiter.check(request(4, "x")).await()).isSameAs(first);
    node.tend();
    assertThat(left(node)).isEqualTo(6);
  }

  @Test
  void aCheckThatTheStoreDecidesTooLateGoesBack() {
    TestNode node = node(Plans.strict("p", new TokenBucket(1, YEAR, 10)));
    LocalLimiter limiter = limiter(node);
    node.hold();
    Future<Decision> first = limiter.check(request(4, "x"));
    node.overdue();
    assertThat(first.await().degraded()).isTrue();
    node.release();
    node.tend();
    assertThat(left(node)).isEqualTo(6);
  }
}
