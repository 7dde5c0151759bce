package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Two nodes whose Redis goes, and is followed by a replica that has not heard from it for a while,
 * but has the mark of its epoch.
 */
final class StaleReplicaIT {

  private static final int NODES = 2;
  private static final int REPLICATED = 20;
  private static final int MISSED = 60;

  @Test
  void aReplicaThatIsBehindHandsOutNoSecondBudget() {
    try (RedisServer master = RedisServer.startProcess();
        RedisServer replica = RedisServer.startProcess(replicaOf(master));
        RedisServer sentinel = RedisServer.startSentinel()) {
      watch(sentinel, master);
      String url = "redis-sentinel://" + sentinel.host() + ":" + sentinel.port() + "/watched";
      try (ClusterOfNodes cluster = ClusterOfNodes.start(NODES, url)) {
        Map<String, String> plans = put(cluster);
        plans.forEach(
            (key, plan) -> assertThat(admitted(cluster, REPLICATED, key, plan)).isEqualTo(20));
        awaitReplicated(master, replica);

        // Goes on being a replica, of a master that there is not.
        replica.call("REPLICAOF", "127.0.0.1", "1");
        plans.forEach(
            (key, plan) -> assertThat(admitted(cluster, MISSED, key, plan)).isEqualTo(MISSED));

        master.kill();
        replica.call("REPLICAOF", "NO", "ONE");
        watch(sentinel, replica);
        String any = plans.values().iterator().next();
        for (NodeClient node : cluster.clients()) {
          await()
              .atMost(Duration.ofSeconds(30))
              .until(() -> !node.check("onlooker", any, 0).degraded());
        }

        plans.forEach(
            (key, plan) ->
                assertThat(REPLICATED + MISSED + admitted(cluster, 100, key, plan))
                    .as(key)
                    .isBetween(98L, 102L));
      }
    }
  }

  /** A plan of each kind, by the key that is on it. */
  private static Map<String, String> put(ClusterOfNodes cluster) {
    Map<String, String> plans = new LinkedHashMap<>();
    List<String> texts = new ArrayList<>();
    PlanScenarios.hundred().forEach(plan -> texts.add(plan.get()[0].toString()));
    for (String text : texts) {
      String name = "stale" + plans.size();
      for (NodeClient node : cluster.clients()) {
        node.putPlan(name, new JsonObject(text).encode());
        await().until(() -> node.check("onlooker", name, 0).status() == 200);
      }
      plans.put("of " + text, name);
    }
    return plans;
  }

  private static long admitted(ClusterOfNodes cluster, int calls, String key, String plan) {
    return IntStream.range(0, calls)
        .filter(i -> cluster.client(i % NODES).check(key, plan, 1).admitted())
        .count();
  }

  private static String[] replicaOf(RedisServer server) {
    return new String[] {"--replicaof", server.host(), Integer.toString(server.port())};
  }

  /** By a Sentinel that promotes nobody by itself. */
  private static void watch(RedisServer sentinel, RedisServer master) {
    sentinel.call("SENTINEL", "REMOVE", "watched");
    sentinel.call(
        "SENTINEL", "MONITOR", "watched", master.host(), Integer.toString(master.port()), "9");
  }

  private static void awaitReplicated(RedisServer master, RedisServer replica) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> info(replica, line -> line.contains("link_status:up")).size() == 1);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                info(master, line -> line.startsWith("master_repl_offset"))
                    .equals(info(replica, line -> line.startsWith("master_repl_offset"))));
  }

  private static List<String> info(RedisServer server, Predicate<String> lines) {
    return server.call("INFO", "replication").toString().lines().filter(lines).toList();
  }
}
