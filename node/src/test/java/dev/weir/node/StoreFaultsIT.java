package dev.weir.node;

import static dev.weir.node.LoadedLimit.OUTSTANDING;

import dev.weir.lease.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;

/** Three nodes under load whose Redis fails in one way after another. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StoreFaultsIT {

  private static final int NODES = 3;

  /** Two seconds' worth. */
  private static final int WHILE = 300;

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
              traffic.awaitAnswers(WHILE);
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
              traffic.awaitAnswers(WHILE);
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
              traffic.awaitAnswers(WHILE);
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
              for (int i = 0; i < 10; i++) {
                redis.call("CLIENT", "KILL", "TYPE", "normal");
                traffic.awaitAnswers(50);
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
              for (int i = 0; i < 20; i++) {
                redis.call("SCRIPT", "FLUSH");
                traffic.awaitAnswers(20);
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
                traffic.awaitAnswers(150);
              }
            })
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(flushes * OUTSTANDING)
        .littleWasDenied();
  }
}
