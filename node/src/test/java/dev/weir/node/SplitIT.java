package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes that reach the store and their callers, but not each other. */
final class SplitIT {

  private static final Duration IN_FORCE = Duration.ofSeconds(5);

  private final List<Integer> ports = List.of(FreePorts.next(), FreePorts.next());
  private final List<Relay> relays = ports.stream().map(Relay::new).toList();
  private RedisServer redis;
  private ClusterOfNodes cluster;

  @BeforeEach
  void start() {
    redis = RedisServer.start();
    cluster = ClusterOfNodes.start(2, redis.url(), this::relayed);
  }

  @AfterEach
  void stop() {
    cluster.close();
    relays.forEach(Relay::close);
    redis.close();
  }

  /** Each is known to the other by the relay that leads to it. */
  private Map<String, String> relayed(int index) {
    return Map.of(
        "WEIR_CLUSTER_PORT",
        ports.get(index).toString(),
        "WEIR_CLUSTER_MEMBERS",
        relays.stream().map(Relay::address).collect(Collectors.joining(",")),
        "JAVA_OPTS",
        "-Xmx256m -Dhazelcast.local.publicAddress=" + relays.get(index).address());
  }

  @Test
  void partsGoOnWithWhatTheyKnowAndAfterwardsTheHighestVersionHolds() {
    NodeClient busier = cluster.client(0);
    NodeClient other = cluster.client(1);
    LoadedLimit.load(
            cluster,
            "parted",
            traffic -> {
              relays.forEach(Relay::cut);
              cluster.awaitCount(1);

              other.assign("lost", "gold");
              busier.assign("kept", "gold");
              busier.assign("kept too", "gold");
              assertThat(planOf(other, "lost")).isEqualTo("gold");
              assertThat(planOf(other, "kept")).isEqualTo("free");

              relays.forEach(Relay::mend);
              cluster.awaitCount(2);
            })
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(LoadedLimit.OUTSTANDING)
        .littleWasDenied();

    for (NodeClient node : List.of(busier, other)) {
      await().atMost(IN_FORCE).until(() -> version(node) == version(busier));
      assertThat(planOf(node, "kept")).isEqualTo("gold");
      assertThat(planOf(node, "kept too")).isEqualTo("gold");
      assertThat(planOf(node, "lost")).isEqualTo("free");
      await().atMost(IN_FORCE).until(() -> lossesOf(node).size() == 1);
    }
  }

  private static List<JsonObject> lossesOf(NodeClient node) {
    JsonArray changes = node.adminGet("/audit").json().getJsonArray("changes");
    return IntStream.range(0, changes.size())
        .mapToObj(changes::getJsonObject)
        .filter(change -> change.getString("action").startsWith("lose_"))
        .toList();
  }

  private static long version(NodeClient node) {
    return node.adminGet("/cluster").json().getLong("version");
  }

  private static String planOf(NodeClient node, String key) {
    return node.check(new JsonObject().put("key", key).put("cost", 0)).json().getString("plan");
  }
}
