package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two nodes whose Redis comes back empty. What they were told of a key is still used. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StoreLossIT {

  private static final int NODES = 2;

  private RedisServer redis;
  private ClusterOfNodes cluster;

  @BeforeAll
  void start() {
    redis = RedisServer.start();
    cluster = ClusterOfNodes.start(NODES, redis.url());
  }

  @AfterAll
  void stop() {
    cluster.close();
    redis.close();
  }

  static List<String> hundred() {
    return PlanScenarios.hundred().map(plan -> plan.get()[0].toString()).toList();
  }

  private String put(String text) {
    String name = "lost" + text.hashCode();
    for (NodeClient node : cluster.clients()) {
      node.putPlan(name, new JsonObject(text).encode());
      await().until(() -> node.check("onlooker", name, 0).status() == 200);
    }
    return name;
  }

  private long admitted(int calls, String key, String plan) {
    return IntStream.range(0, calls)
        .filter(i -> cluster.client(i % NODES).check(key, plan, 1).admitted())
        .count();
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void aFlushedStoreHandsOutNoSecondBudget(String text) {
    String plan = put(text);
    String key = "of " + plan;
    long before = admitted(60, key, plan);
    assertThat(before).isEqualTo(60);

    redis.call("FLUSHALL");

    // What one node took after the other was last told has gone.
    assertThat(before + admitted(100, key, plan)).isBetween(99L, 102L);
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void whatOnlyOneNodeKnowsOfAKeyIsKnownToAllAfterAFlush(String text) {
    String plan = put(text);
    String key = "one-sided of " + plan;
    assertThat(IntStream.range(0, 60).filter(i -> cluster.client(0).check(key, plan, 1).admitted()))
        .hasSize(60);

    redis.call("FLUSHALL");
    cluster.client(1).check("onlooker", plan, 1);

    NodeClient other = cluster.client(1);
    await().until(() -> other.check(key, plan, 0).remaining() <= 40);
    assertThat(IntStream.range(0, 100).filter(i -> other.check(key, plan, 1).admitted()).count())
        .isBetween(39L, 41L);
  }

  @Test
  void aStoreThatRestartsEmptyHandsOutNoSecondBudget() {
    String plan = put(hundred().get(0));
    long before = admitted(60, "survivor", plan);
    assertThat(before).isEqualTo(60);

    redis.kill();
    redis.restart();
    for (NodeClient node : cluster.clients()) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> !node.check("onlooker", plan, 0).degraded());
    }

    assertThat(before + admitted(100, "survivor", plan)).isBetween(98L, 102L);
  }
}
