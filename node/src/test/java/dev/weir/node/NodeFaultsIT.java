package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.RedisServer;
import dev.weir.node.Traffic.Tally;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Three nodes under load, one of which stands still for a while, and then dies. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class NodeFaultsIT {

  private static final int NODES = 3;

  private RedisServer redis;
  private ClusterOfNodes cluster;

  @BeforeAll
  void start() {
    redis = RedisServer.start();
    cluster = ClusterOfNodes.start(NODES, redis.url());
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
    redis.close();
  }

  /** Its callers wait; the others are not held up by it. */
  @Test
  @Order(1)
  void nodeThatStandsStillGetsNoBudgetForThatTime() {
    LoadedLimit.load(
            cluster,
            "sleeper",
            traffic -> {
              cluster.node(2).suspend();
              traffic.awaitAnswers(400);
              cluster.node(2).resume();
            })
        .nobodySawAnError()
        .heldBound(0)
        .littleWasDenied();
  }

  @Test
  @Order(2)
  void nodeThatIsKilledTakesOnlyItsOwnCallersAlong() {
    LoadedLimit outcome =
        LoadedLimit.load(
            cluster,
            "victim",
            List.of(0, 1),
            traffic -> {
              cluster.node(2).kill();
              traffic.awaitAnswers(300);
            });
    assertThat(outcome.all().on(2).errors()).isNotEmpty();
    for (int survivor : List.of(0, 1)) {
      Tally tally = outcome.all().on(survivor);
      assertThat(tally.errors()).as("%s", tally).isEmpty();
      assertThat(tally.degraded()).as("%s", tally).isZero();
    }
    outcome.heldBound(0).littleWasDenied();
  }
}
