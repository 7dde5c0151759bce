package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Decision;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Plan;
import dev.weir.config.RegionLedger;
import dev.weir.config.RegionLedger.Totals;
import dev.weir.config.RegionWeights;
import dev.weir.config.Regions;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A region holds keys to its part of their limits, while that moves. */
class DeciderRegionTest {

  private static final Plan PLAN = Plans.bucket("p", 1, Duration.ofSeconds(1), 100);

  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);

  private static ConfigSnapshot config(Totals totals) {
    ConfigSnapshot whole = Plans.config(PLAN);
    Regions regions =
        new Regions(
            "eu",
            new RegionWeights(Map.of("eu", 600_000L, "us", 400_000L)),
            new RegionLedger(Map.of("p", Map.of("us", totals))));
    return new ConfigSnapshot(
        whole.version(),
        whole.defaultPlan(),
        whole.plans(),
        whole.endpoints(),
        whole.gateway(),
        regions,
        whole.assignments(),
        Map.of());
  }

  private static long admitted(TestNode node, int checks) {
    return IntStream.range(0, checks).filter(i -> node.check("k", 1).allowed()).count();
  }

  @Test
  void keyGetsThePartOfTheRegionAndIsToldIt() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    Decision decision = node.check("k", 1);
    assertThat(decision.status().policy().quota()).isEqualTo(60);
    assertThat(admitted(node, 100)).isEqualTo(59);
  }

  @Test
  void whatWasUsedStaysUsedWhenWeightComesOrGoes() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    assertThat(admitted(node, 50)).isEqualTo(50);

    node.decider.configure(config(new Totals(200_000, 0)));
    assertThat(admitted(node, 50)).isZero();

    node.decider.configure(config(new Totals(200_000, 300_000)));
    assertThat(admitted(node, 50)).isEqualTo(20);
  }

  @Test
  void permitsHeldUnderAHigherWeightGoBack() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    admitted(node, 20);

    node.decider.configure(config(new Totals(100_000, 0)));

    assertThat(node.decider.outstanding()).isZero();
  }

  @Test
  void demandIsWhatIsAskedForGrantedOrNot() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    admitted(node, 100);
    // Some permits may have been granted ahead of need.
    assertThat(node.decider.demand().get("p")).isBetween(100L, 110L);
  }

  @Test
  void whatNoWeightLetsThroughIsNoDemand() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    for (int i = 0; i < 10; i++) {
      node.check("k", 1_000_000);
    }
    assertThat(node.decider.demand()).isEqualTo(Map.of("p", 0L));
  }

  @Test
  void demandGoesOnToCountWhenWeightHasMoved() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    admitted(node, 60);
    node.decider.configure(config(new Totals(200_000, 0)));
    admitted(node, 40);
    assertThat(node.decider.demand().get("p")).isBetween(100L, 110L);
  }

  @Test
  void demandIsNotCountedWhereNothingIsDivided() {
    TestNode node = new TestNode(clock, store, Plans.config(PLAN), 1000);
    admitted(node, 200);
    assertThat(node.decider.demand()).isEmpty();
  }

  @Test
  void demandOfAPlanThatIsGoneIsForgotten() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    admitted(node, 10);
    node.decider.configure(Plans.config(new Plan("q", PLAN.limits())));
    assertThat(node.decider.demand()).isEmpty();
  }

  @Test
  void costAboveThePartOfTheRegionCanNeverPass() {
    TestNode node = new TestNode(clock, store, config(Totals.ZERO), 1000);
    assertThat(node.check("k", 61))
        .isInstanceOfSatisfying(
            Decision.Denied.class,
            denied -> assertThat(denied.reason()).isEqualTo(Decision.Reason.COST_EXCEEDS_LIMIT));
  }
}
