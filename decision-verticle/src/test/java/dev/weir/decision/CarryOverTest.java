package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.VirtualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the store is told of after it may have lost its data. */
class CarryOverTest {

  private static final Duration YEAR = Duration.ofDays(365);

  private final VirtualClock clock = new VirtualClock();
  private final TestNode node =
      new TestNode(
          clock, TestStores.embedded(clock), Plans.config(Plans.bucket("p", 1, YEAR, 100)), 10_000);

  private int callsOf(Runnable action) {
    int before = node.storeCalls;
    action.run();
    return node.storeCalls - before;
  }

  private void use(int keys) {
    for (int i = 0; i < keys; i++) {
      node.check("key " + i, 1);
    }
  }

  @Test
  void everyKeyThatTheStoreHasToldOfIsToldOfOnce() {
    use(1_000);
    node.decider.giveAllBack();
    assertThat(callsOf(node.decider::carryOver)).isEqualTo(1_000);
  }

  @Test
  void keysOfWhichNothingIsUsedAreLeftOut() {
    node.check("peeked at", 0);
    use(3);
    assertThat(callsOf(node.decider::carryOver)).isEqualTo(3);
  }

  @Test
  void onlySomeKeysAreUnderWayAtOnce() {
    use(3 * CarryOver.AT_ONCE);
    node.hold();
    node.decider.carryOver();
    assertThat(node.underWay()).isBetween(CarryOver.AT_ONCE, CarryOver.AT_ONCE + 10);
    assertThat(callsOf(node::release)).isEqualTo(3 * CarryOver.AT_ONCE);
  }

  @Test
  void whoeverSaysItTooDoesNotMakeItHappenAgainAtOnce() {
    use(5);
    node.decider.carryOver();
    assertThat(callsOf(node.decider::carryOver)).isZero();

    clock.advance(Duration.ofNanos(CarryOver.REST_MICROS * 1_000));
    node.decider.giveAllBack();
    assertThat(callsOf(node.decider::tendKeys)).as("nothing is made up for").isZero();
    assertThat(callsOf(node.decider::carryOver)).as("another loss").isEqualTo(5);
  }

  @Test
  void aNodeGoesOnWhenTheStoreHasComeBack() {
    use(5);
    node.cut();
    node.decider.carryOver();
    node.mend();
    clock.advance(Duration.ofSeconds(1));
    assertThat(callsOf(node.decider::tendKeys)).isGreaterThanOrEqualTo(5);
  }
}
