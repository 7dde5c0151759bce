package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.Plan;
import dev.weir.config.Shard;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a node does with a key that the store has been told to forget. */
class DeciderForgetTest {

  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private TestNode node(Plan... plans) {
    return new TestNode(clock, store, Plans.config(plans), 1000);
  }

  private void forget(String key, TestNode... nodes) {
    assertThat(store.forget(key, Shard.WHOLE, List.of("default")).succeeded()).isTrue();
    for (TestNode node : nodes) {
      node.decider.forget(key);
    }
  }

  private long remainingInStore(String key, TestNode node) {
    node.decider.giveAllBack();
    return node.inspect(key).statuses().get(0).remaining();
  }

  @Test
  void allIsThereAgainAtOnceOnEveryNodeAndOtherKeysAreUntouched() {
    Plan plan = Plans.bucket("p", 1, YEAR, 100);
    TestNode one = node(plan);
    TestNode two = node(plan);
    one.allowedOf(70, "a");
    one.allowedOf(10, "b");
    assertThat(two.allowedOf(50, "a")).isEqualTo(30);
    assertThat(one.check("a", 1).allowed()).isFalse();

    forget("a", one, two);

    assertThat(one.check("a", 0).remaining()).isEqualTo(100);
    assertThat(two.allowedOf(60, "a") + one.allowedOf(60, "a")).isEqualTo(100);
    assertThat(one.check("b", 0).remaining()).isEqualTo(90);
  }

  @Test
  void permitsHeldAreDiscardedAndNothingIsReturned() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 10_000));
    node.allowedOf(1_000, "a");
    node.allowedOf(10, "b");
    assertThat(node.decider.outstanding()).isPositive();

    forget("a", node);
    assertThat(node.decider.decideAtOnce(CheckRequest.of("a"))).isNull();
    node.allowedOf(50, "a");
    assertThat(remainingInStore("a", node)).isEqualTo(9_950);
    assertThat(remainingInStore("b", node)).isEqualTo(9_990);
    assertThat(node.decider.settled()).isTrue();
  }

  @Test
  void whatARefillBroughtThatWasUnderWayIsDiscardedAndCallersAreServedAnew() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.allowedOf(40, "a");
    node.hold();
    List<Decision> answer = node.ask(CheckRequest.of("a").withCost(50));

    forget("a", node);
    node.release();

    assertThat(answer).singleElement().matches(Decision::allowed);
    assertThat(remainingInStore("a", node)).isBetween(0L, 50L);
  }

  @Test
  void anOldLevelThatArrivesAfterwardsDeniesNobody() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.allowedOf(100, "a");
    clock.advance(Duration.ofSeconds(3));
    TestNode other = node(Plans.bucket("p", 1, YEAR, 100));
    other.hold();
    List<Decision> answer = other.ask(CheckRequest.of("a"));
    other.answerLate(() -> forget("a", node, other));

    assertThat(answer).singleElement().matches(Decision::allowed);
    assertThat(other.allowedOf(200, "a")).isEqualTo(99);
  }

  @Test
  void whatIsOwedAndWhatStoodInForTheStoreIsDropped() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.allowedOf(10, "a");
    node.cut();
    assertThat(node.allowedOf(200, "a")).isPositive();
    assertThat(node.decider.decisions().degradedAllowedCount()).isPositive();

    node.mend();
    forget("a", node);
    node.tend();
    assertThat(node.check("a", 0).remaining()).isEqualTo(100);
    assertThat(node.allowedOf(200, "a")).isEqualTo(100);
  }

  @Test
  void everyLimitOfAPlanIsForgotten() {
    Plan plan =
        new Plan("p", List.of(Plans.limit("one", 1, YEAR, 3), Plans.limit("two", 1, YEAR, 10)));
    TestNode node = node(plan);
    assertThat(node.allowedOf(50, "a")).isEqualTo(3);
    assertThat(store.forget("a", Shard.WHOLE, List.of("one", "two")).succeeded()).isTrue();
    node.decider.forget("a");
    assertThat(node.inspect("a").statuses().get(1).remaining()).isEqualTo(10);
    assertThat(node.allowedOf(50, "a")).isEqualTo(3);
  }

  @Test
  void aKeyThatIsNotHeldIsNoError() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100));
    node.decider.forget("nobody");
    assertThat(node.decider.keys()).isZero();
  }
}
