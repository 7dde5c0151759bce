package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Plan;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Invariant 12: more keys come than a node holds. */
class MaxKeysTest {

  private static final Duration YEAR = Duration.ofDays(365);
  private static final int MAX_KEYS = 50;

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);
  private final Plan plan = Plans.bucket("p", 1, YEAR, 5);
  private final TestNode node = new TestNode(clock, store, Plans.config(plan), MAX_KEYS);

  /** Units allowed of {@code each} asked of each of {@code keys} keys. */
  private int flood(String prefix, int keys, int each) {
    int allowed = 0;
    for (int i = 0; i < keys; i++) {
      allowed += node.allowedOf(each, prefix + i);
      assertThat(node.decider.keys()).isLessThanOrEqualTo(MAX_KEYS);
    }
    return allowed;
  }

  @Test
  void evictionLosesNoUsageAndGrantsNoBudget() {
    int allowed = 0;
    for (int round = 0; round < 3; round++) {
      allowed += flood("key", 2_000, 3);
    }
    assertThat(allowed).isEqualTo(2_000 * 5);
    assertThat(node.usage.spent()).isEqualTo(allowed);
    assertThat(node.usage.denied()).isEqualTo(2_000 * 9 - allowed);
  }

  @Test
  void aKeyThatIsEvictedWhileTheStoreIsAwayComesBackWithWhatItOwes() {
    node.cut();
    for (int i = 0; i < 5; i++) {
      assertThat(flood("key", 2_000, 3)).isEqualTo(i == 0 ? 6_000 : i == 1 ? 4_000 : 0);
    }
    assertThat(node.usage.degraded()).isEqualTo(10_000);
    assertThat(node.decider.forgottenCount()).isZero();
    node.mend();
    for (int i = 0; i < 3; i++) {
      node.tend();
    }
    assertThat(node.decider.settled()).isTrue();
    assertThat(flood("key", 2_000, 1)).isZero();
  }

  @Test
  void whateverArrivesWhileTheStoreIsAwayMemoryIsBoundedAndWhatIsForgottenIsCounted() {
    node.cut();
    int keys = Orphans.MOST + 5_000;
    assertThat(flood("key", keys, 1)).isEqualTo(keys);
    assertThat(node.usage.degraded()).isEqualTo(keys);
    assertThat(node.decider.forgottenCount()).isEqualTo(5_000 - MAX_KEYS);
    node.mend();
    for (int i = 0; i < 3; i++) {
      node.tend();
    }
    assertThat(node.decider.settled()).isTrue();
  }

  @Test
  void aLongKeyTakesTheRoomOfSeveral() {
    for (int i = 0; i < 100; i++) {
      assertThat(node.allowedOf(1, "k".repeat(1_000) + i)).isEqualTo(1);
    }
    assertThat(node.decider.keys()).isEqualTo(MAX_KEYS / 8);
  }

  @Test
  void aTableOfOneKeyServesAllKeysThatComeWhileTheOneOwes() {
    TestNode tiny = new TestNode(clock, store, Plans.config(plan), 1);
    tiny.cut();
    for (int i = 0; i < 100; i++) {
      assertThat(tiny.check("key" + i, 1).degraded()).isTrue();
      assertThat(tiny.decider.keys()).isEqualTo(1);
    }
  }
}
