package dev.weir.node;

import static dev.weir.node.LoadedLimit.CAPACITY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.FakeTime;
import dev.weir.lease.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Three nodes whose clocks are minutes apart, on a Redis whose clock jumps, under load. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIf("dev.weir.lease.FakeTime#isInstalled")
final class ClockFaultsIT {

  private static final List<Duration> SKEWS =
      List.of(Duration.ofMinutes(-7), Duration.ZERO, Duration.ofMinutes(11));

  private final FakeTime ofStore = FakeTime.create();
  private RedisServer redis;
  private ClusterOfNodes cluster;

  @BeforeAll
  void start() {
    redis = RedisServer.startProcess(ofStore.environment());
    cluster =
        ClusterOfNodes.start(SKEWS.size(), redis.url(), i -> FakeTime.environment(SKEWS.get(i)));
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
    redis.close();
    ofStore.close();
  }

  @Test
  void nodesWhoseClocksDifferKeepToOneLimit() {
    ofStore.shiftTo(Duration.ZERO);
    LoadedLimit.load(cluster, "skewed", traffic -> {})
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(0)
        .littleWasDenied();
  }

  /** To the store that is time in which nothing was used. */
  @Test
  void storeWhoseClockJumpsAheadHandsOutOneCapacityMore() {
    ofStore.shiftTo(Duration.ZERO);
    LoadedLimit.load(cluster, "ahead", traffic -> ofStore.shiftTo(Duration.ofMinutes(10)))
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(CAPACITY)
        .littleWasDenied();
  }

  @Test
  void storeWhoseClockJumpsBackHandsOutNoMoreAndNoLess() {
    ofStore.shiftTo(Duration.ofHours(1));
    LoadedLimit.load(cluster, "back", traffic -> ofStore.shiftTo(Duration.ofHours(-2)))
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(0)
        .littleWasDenied();
  }

  static List<String> hundred() {
    return PlanScenarios.hundred().map(plan -> plan.get()[0].toString()).toList();
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void storeWhoseClockJumpsToAndFroHandsOutOneBudgetMoreAtMost(String text) {
    ofStore.shiftTo(Duration.ZERO);
    String plan = "jumped" + text.hashCode();
    for (NodeClient node : cluster.clients()) {
      node.putPlan(plan, text);
      await().until(() -> node.check("onlooker", plan, 0).status() == 200);
    }
    long admitted = admitted(60, plan);
    assertThat(admitted).isEqualTo(60);
    ofStore.shiftTo(Duration.ofMinutes(-30));
    admitted += admitted(60, plan);
    ofStore.shiftTo(Duration.ofMinutes(30));
    admitted += admitted(60, plan);
    ofStore.shiftTo(Duration.ZERO);
    admitted += admitted(300, plan);
    assertThat(admitted).isBetween(100L, 200L);
  }

  private long admitted(int calls, String plan) {
    return IntStream.range(0, calls)
        .filter(i -> cluster.client(i).check("of " + plan, plan, 1).admitted())
        .count();
  }
}
