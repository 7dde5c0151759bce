package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Invariant 12 with a node of its own: many times as many keys as it can hold go through a heap of
 * 192 MiB. On Redis it is fewer: the node holds no more of them than on its own store, and most of
 * the time that it takes is that of Redis, which may be late for some.
 */
final class ManyKeysIT {

  private static final int KEYS = 5_000_000;
  private static final int KEYS_ON_REDIS = 400_000;
  private static final int BILLED_KEYS = 40_000;

  /** Far from a line for each key. */
  private static final int MOST_LINES = 1_000;

  private static Map<String, String> settings() {
    Map<String, String> settings = RunningNode.settings();
    settings.put("JAVA_OPTS", "-Xmx192m");
    // Each key is an entry of the journal until it is reported.
    settings.put("WEIR_USAGE_MAX_DISK", "4GiB");
    return settings;
  }

  private static Map<String, String> settings(RedisServer redis) {
    Map<String, String> settings = settings();
    settings.put("WEIR_STORE", redis.url());
    settings.put("WEIR_STORE_TIMEOUT", "10s");
    return settings;
  }

  @Test
  void fiveMillionKeysOnTheEmbeddedStore() {
    try (RunningNode node = RunningNode.start(settings())) {
      KeyFlood.Told told = survived(node, KEYS);
      assertThat(told.degraded()).isZero();
      assertThat(node.client().metric("weir_store_dropped_total")).isPositive();
      assertThat(node.terminate()).isZero();
    }
  }

  @Test
  void hundredsOfThousandsOfKeysOnRedis() {
    try (RedisServer redis = RedisServer.start();
        RunningNode node = RunningNode.start(settings(redis))) {
      survived(node, KEYS_ON_REDIS);
      assertThat(node.terminate()).isZero();
    }
  }

  private static KeyFlood.Told survived(RunningNode node, int keys) {
    NodeClient client = node.client();
    client.putPlan("flood", "{\"rate\":5,\"period\":\"1m\",\"capacity\":5}");
    client.putPlan("daily", "{\"rate\":10,\"period\":\"1d\",\"capacity\":10}");
    assertThat(client.check("spender", "daily", 10).admitted()).isTrue();
    int metrics = metrics(client);
    double before = client.metric("weir_decisions_total");

    KeyFlood.Told told = KeyFlood.run(client.data(), "flood", keys);

    assertThat(told.allowed()).isEqualTo(keys);
    assertThat(client.metric("weir_decisions_total") - before).isEqualTo(keys);
    await().until(() -> client.metric("weir_degraded") == 0);
    assertThat(client.check("spender", "daily", 1).admitted()).isFalse();
    assertThat(client.metric("weir_usage_lost_units_total")).isZero();
    assertThat(client.metric("weir_usage_uncounted_total")).isZero();
    assertThat(client.metric("weir_keys")).isLessThan(0.75 * keys);
    assertThat(metrics(client)).isLessThan(metrics + MOST_LINES);
    assertThat(node.log()).hasSizeLessThan(MOST_LINES);
    assertThat(node.log()).filteredOn(line -> line.contains("max_keys")).hasSize(1);
    assertThat(node.log()).noneMatch(line -> line.contains("OutOfMemoryError"));
    return told;
  }

  private static int metrics(NodeClient client) {
    return (int) client.adminGet("/metrics").body().lines().count();
  }

  @Test
  void usageOfKeysThatWereEvictedIsAllBilled() {
    try (RedisServer redis = RedisServer.start()) {
      Map<String, String> settings = settings(redis);
      settings.put("WEIR_MAX_KEYS", "1000");
      settings.put("WEIR_ACCURACY_WINDOW", "5s");
      try (RunningNode node = RunningNode.start(settings)) {
        NodeClient client = node.client();
        client.putPlan("flood", "{\"rate\":5,\"period\":\"1m\",\"capacity\":5}");
        assertThat(KeyFlood.run(client.data(), "flood", BILLED_KEYS).allowed())
            .isEqualTo(BILLED_KEYS);
        assertThat(client.metric("weir_keys")).isLessThan(BILLED_KEYS / 2.0);

        Path directory = RunningNode.scratchDirectory();
        RunningNode.Exit usage =
            RunningNode.run(
                directory,
                Map.of("WEIR_STORE", redis.url()),
                "usage",
                "--until-idle",
                "--format",
                "jsonl");
        assertThat(usage.code()).isZero();
        assertThat(usage.out().stream().mapToLong(ManyKeysIT::spent).sum()).isEqualTo(BILLED_KEYS);
      }
    }
  }

  private static long spent(String line) {
    return new JsonObject(line).getLong("spent");
  }
}
