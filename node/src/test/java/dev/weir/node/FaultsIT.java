package dev.weir.node;

import static dev.weir.node.LoadedLimit.OUTSTANDING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Three nodes on one Redis under load, and what can happen to either, one after another. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class FaultsIT {

  private static final int NODES = 3;

  private static final int SECONDS_AWAY = 2;

  private RedisServer redis;
  private ClusterOfNodes cluster;
  private String name;

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

  @BeforeEach
  void name(TestInfo test) {
    name = test.getDisplayName();
  }

  @Test
  void redisThatIsKilledAndComesBackEmpty() {
    redis.call("FLUSHALL");
    redis.call("SAVE");
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              redis.kill();
              traffic.awaitSecondsWorth(SECONDS_AWAY);
              redis.restart();
            })
        .nobodySawAnError()
        .someWasDegraded()
        .heldDegradedBound(NODES)
        .littleWasDenied();
  }

  @Test
  void redisThatIsKilledAndComesBackWithItsData() {
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              redis.call("SAVE");
              redis.kill();
              traffic.awaitSecondsWorth(SECONDS_AWAY);
              redis.restart();
            })
        .nobodySawAnError()
        .someWasDegraded()
        .heldDegradedBound(NODES)
        .littleWasDenied();
  }

  @Test
  void redisThatHangs() {
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              redis.suspend();
              traffic.awaitSecondsWorth(SECONDS_AWAY);
              redis.resume();
            })
        .nobodySawAnError()
        .someWasDegraded()
        .heldDegradedBound(NODES)
        .littleWasDenied();
  }

  @Test
  void connectionsThatAreKilledAgainAndAgain() {
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              for (int i = 0; i < 5; i++) {
                redis.call("CLIENT", "KILL", "TYPE", "normal");
                traffic.awaitSecondsWorth(1);
              }
            })
        .nobodySawAnError()
        .heldDegradedBound(NODES)
        .littleWasDenied();
  }

  @Test
  void scriptsThatAreFlushedAgainAndAgain() {
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              for (int i = 0; i < 4; i++) {
                redis.call("SCRIPT", "FLUSH");
                traffic.awaitSecondsWorth(1);
              }
            })
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(0)
        .littleWasDenied();
  }

  @Test
  void dataThatIsFlushedAgainAndAgain() {
    int flushes = 3;
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              for (int i = 0; i < flushes; i++) {
                redis.call("FLUSHALL");
                traffic.awaitSecondsWorth(1);
              }
            })
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(flushes * OUTSTANDING)
        .littleWasDenied();
  }

  /** Its callers wait; the others are not held up by it. */
  @Test
  void nodeThatStandsStillGetsNoBudgetForThatTime() {
    LoadedLimit.load(
            cluster,
            name,
            traffic -> {
              cluster.node(2).suspend();
              traffic.awaitSecondsWorth(2);
              cluster.node(2).resume();
            })
        .nobodySawAnError()
        .heldBound(0)
        .littleWasDenied();
  }

  /** Last, since it leaves two nodes. */
  @Test
  @Order(Integer.MAX_VALUE)
  void nodeThatIsKilledTakesOnlyItsOwnCallersAlong() {
    List<Integer> survivors = List.of(0, 1);
    LoadedLimit outcome =
        LoadedLimit.load(
                cluster,
                List.of(name),
                survivors,
                traffic -> {
                  cluster.kill(2);
                  traffic.awaitSecondsWorth(2);
                })
            .get(0);
    assertThat(outcome.on(2).busy().errors()).isNotEmpty();
    for (int survivor : survivors) {
      outcome.on(survivor).nobodySawAnError().nothingWasDegraded();
    }
    outcome.heldBound(0).littleWasDenied();
    cluster.awaitCount(survivors.size());
  }
}
