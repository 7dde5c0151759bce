package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of the configuration when all processes are killed and started again. */
final class ConfigurationIT {

  private static final Duration SAVED = Duration.ofSeconds(10);

  @TempDir Path scratch;

  @Test
  void aClusterThatIsKilledWholeGoesOnFromTheHighestVersion() {
    IntFunction<Map<String, String>> kept =
        index -> Map.of("WEIR_DATA_DIR", scratch.resolve("node-" + index).toString());
    try (RedisServer redis = RedisServer.start()) {
      long version;
      try (ClusterOfNodes cluster = ClusterOfNodes.start(2, redis.url(), kept)) {
        NodeClient first = cluster.client(0);
        NodeClient second = cluster.client(1);
        second.putPlan("early", "{\"rate\":1}");
        awaitSaved(second);
        cluster.kill(1);
        cluster.awaitCount(1);
        first.putPlan("late", "{\"rate\":2}");
        first.assign("customer 7", "late");
        assertThat(first.adminDelete("/admin/limits/acme").status()).isEqualTo(204);
        awaitSaved(first);
        version = version(first);
      }

      try (ClusterOfNodes cluster = ClusterOfNodes.start(2, redis.url(), kept)) {
        for (NodeClient node : cluster.clients()) {
          await().atMost(SAVED).until(() -> version(node) == version);
          assertThat(node.adminGet("/plans").json().getJsonObject("plans").fieldNames())
              .contains("early", "late");
          assertThat(planOf(node, "customer 7")).isEqualTo("late");
          assertThat(planOf(node, "acme")).isEqualTo("free");
        }
      }
    }
  }

  @Test
  void aNodeThatIsAloneKeepsItsChangesUnlessItsPlansFileIsAuthoritative() {
    Map<String, String> settings = RunningNode.settings();
    try (RunningNode node = RunningNode.launch(scratch, settings, List.of("start"))) {
      node.awaitReady();
      node.client().putPlan("mine", "{\"rate\":1}");
      node.client().assign("acme", "mine");
      awaitSaved(node.client());
      node.kill();
    }
    try (RunningNode node = RunningNode.launch(scratch, settings, List.of("start"))) {
      node.awaitReady();
      assertThat(planOf(node.client(), "acme")).isEqualTo("mine");
      // Written when it stops, if not before.
      node.client().putPlan("last", "{\"rate\":1}");
      assertThat(node.terminate()).isZero();
    }
    List<String> authoritative = List.of("start", "--plans-authoritative");
    try (RunningNode node = RunningNode.launch(scratch, settings, authoritative)) {
      node.awaitReady();
      assertThat(planOf(node.client(), "acme")).isEqualTo("gold");
      assertThat(node.client().adminGet("/plans").json().getJsonObject("plans").fieldNames())
          .containsExactlyInAnyOrder("free", "gold");
      assertThat(version(node.client())).isEqualTo(5);
    }
  }

  private static void awaitSaved(NodeClient node) {
    await().atMost(SAVED).until(() -> node.metric("weir_config_saved_version") == version(node));
  }

  private static long version(NodeClient node) {
    return node.adminGet("/cluster").json().getLong("version");
  }

  private static String planOf(NodeClient node, String key) {
    return node.check(new JsonObject().put("key", key).put("cost", 0)).json().getString("plan");
  }
}
