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

  private void found(String loss) {
    node.decider.carryOver(loss, true);
  }

  private void told(String loss) {
    node.decider.carryOver(loss, false);
  }

  private int callsAfterTheRest() {
    clock.advance(Duration.ofNanos(CarryOver.REST_MICROS * 1_000));
    return callsOf(node::tend);
  }

  @Test
  void everyKeyThatTheStoreHasToldOfIsToldOfOnce() {
    use(1_000);
    node.decider.giveAllBack();
    assertThat(callsOf(() -> found("a"))).isEqualTo(1_000);
  }

  @Test
  void keysOfWhichNothingIsUsedAreLeftOut() {
    node.check("peeked at", 0);
    use(3);
    assertThat(callsOf(() -> found("a"))).isEqualTo(3);
  }

  @Test
  void onlySomeKeysAreUnderWayAtOnce() {
    use(3 * CarryOver.AT_ONCE);
    node.hold();
    found("a");
    assertThat(node.underWay()).isBetween(CarryOver.AT_ONCE, CarryOver.AT_ONCE + 10);
    assertThat(callsOf(node::release)).isEqualTo(3 * CarryOver.AT_ONCE);
  }

  @Test
  void whoeverSaysItTooDoesNotMakeItHappenAgain() {
    use(5);
    found("a");
    assertThat(callsOf(() -> told("a"))).isZero();
    node.decider.giveAllBack();
    assertThat(callsAfterTheRest()).isZero();
    assertThat(callsOf(() -> told("a"))).as("long after").isZero();
  }

  @Test
  void aNodeThatFindsWhatItWasToldOfGoesThroughItsKeysAgain() {
    use(5);
    node.decider.giveAllBack();
    assertThat(callsOf(() -> told("a"))).isEqualTo(5);
    assertThat(callsOf(() -> found("a"))).as("at rest").isZero();
    assertThat(callsAfterTheRest()).isEqualTo(5);
    found("a");
    assertThat(callsAfterTheRest()).as("found again").isZero();
  }

  @Test
  void aFurtherLossIsMadeUpForAfterTheRest() {
    use(5);
    node.decider.giveAllBack();
    assertThat(callsOf(() -> found("a"))).isEqualTo(5);
    assertThat(callsOf(() -> told("b"))).as("at rest").isZero();
    assertThat(callsAfterTheRest()).isEqualTo(5);
    assertThat(callsAfterTheRest()).isZero();
  }

  @Test
  void aLossDuringARoundIsMadeUpForByAnother() {
    use(3 * CarryOver.AT_ONCE);
    node.decider.giveAllBack();
    node.hold();
    found("a");
    found("b");
    assertThat(callsOf(node::release)).isEqualTo(3 * CarryOver.AT_ONCE);
    assertThat(callsAfterTheRest()).isEqualTo(3 * CarryOver.AT_ONCE);
  }

  @Test
  void aNodeGoesOnWhenTheStoreHasComeBack() {
    use(5);
    node.cut();
    found("a");
    node.mend();
    clock.advance(Duration.ofSeconds(1));
    assertThat(callsOf(node::tend)).isGreaterThanOrEqualTo(5);
  }
}
