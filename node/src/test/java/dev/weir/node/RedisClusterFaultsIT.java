package dev.weir.node;

import dev.weir.lease.RedisCluster;
import dev.weir.lease.RedisServer;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Three nodes under load on a Redis Cluster of three masters, one of which is killed: that concerns
 * its keys alone.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class RedisClusterFaultsIT {

  private static final int NODES = 3;
  private static final int MASTERS = 3;
  private static final int SLOTS = 16_384;
  private static final int SECONDS_AWAY = 3;

  private RedisCluster redis;
  private ClusterOfNodes cluster;

  @BeforeAll
  void start() {
    redis = RedisCluster.start(MASTERS, true);
    cluster = ClusterOfNodes.start(NODES, redis.url());
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
    redis.close();
  }

  @Test
  @Order(1)
  void masterWithoutReplicaComesBackEmpty() {
    RedisServer master = redis.masters().get(1);
    redis.replicas().get(1).kill();
    assertConcernsOnlyItsKeys(
        1,
        traffic -> {
          master.kill();
          traffic.awaitSecondsWorth(SECONDS_AWAY);
          master.restart();
        });
  }

  @Test
  @Order(2)
  void masterIsSucceededByItsReplica() {
    assertConcernsOnlyItsKeys(
        0,
        traffic -> {
          redis.masters().get(0).kill();
          traffic.awaitSecondsWorth(1);
        });
  }

  private void assertConcernsOnlyItsKeys(int master, Consumer<Traffic> fault) {
    List<LoadedLimit> outcomes =
        LoadedLimit.load(
            cluster,
            // Of names of its own, since what is used of a key stays used.
            List.of(nameOn(master, master), nameOn((master + 1) % MASTERS, master)),
            LoadedLimit.allOf(cluster),
            fault);
    outcomes.get(0).nobodySawAnError().someWasDegraded().heldDegradedBound(NODES).littleWasDenied();
    outcomes.get(1).nobodySawAnError().nothingWasDegraded().heldBound(0).littleWasDenied();
  }

  /** A name of keys that a master has, for when {@code other} is at fault. */
  private String nameOn(int master, int other) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "of master " + master + " beside " + other + " " + i)
        .filter(
            name ->
                masterOf(LoadedLimit.busyKey(name)) == master
                    && masterOf(LoadedLimit.calmKey(name)) == master)
        .findFirst()
        .orElseThrow();
  }

  private int masterOf(String key) {
    Object slot = redis.masters().get(2).call("CLUSTER", "KEYSLOT", key);
    return Math.toIntExact((Long) slot * MASTERS / SLOTS);
  }
}
