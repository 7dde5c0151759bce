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
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Three nodes in processes of their own, one Redis. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class ClusterIT {

  private static final int NODES = 3;

  /**
   * A change is in force within one second by the contract; the rest is for a machine that stands
   * still meanwhile. Less than the time after which a lost event is made good.
   */
  private static final Duration IN_FORCE = Duration.ofSeconds(4);

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

  @Test
  void everyNodeSeesThree() {
    for (NodeClient node : cluster.clients()) {
      JsonObject seen = node.adminGet("/cluster").json();
      assertThat(seen.getInteger("nodes")).isEqualTo(NODES);
      assertThat(
              seen.getJsonArray("members").stream()
                  .map(each -> ((JsonObject) each).getString("address")))
          .hasSize(NODES)
          .doesNotHaveDuplicates()
          .doesNotContainNull();
    }
  }

  @Test
  void callersOnAllNodesTogetherGetWhatThePlanAllows() {
    put(0, "shared", "{\"rate\":100,\"period\":\"1s\",\"capacity\":100}");

    Traffic.Tally tally =
        Traffic.steady(cluster.clients(), new Traffic.Demand("everyone", "shared", 600), 20);

    double due = 100 + 100 * tally.seconds();
    assertThat((double) tally.admitted())
        .as("%s", tally)
        .isBetween(due - 0.01 * due, due + 0.01 * due);
    assertThat(tally.degraded()).as("%s", tally).isZero();
    assertThat(tally.errors()).as("%s", tally).isEmpty();
  }

  @Test
  void planChangedOnOneNodeIsInForceOnTheOthers() {
    put(0, "changed", "{\"rate\":1,\"period\":\"1h\",\"capacity\":100}");
    put(1, "changed", "{\"rate\":1,\"period\":\"1h\",\"capacity\":150}");
    put(2, "changed", "{\"rate\":1,\"period\":\"1h\",\"capacity\":200}");
  }

  @Test
  void raisedLimitKeepsWhatAllNodesUsed() {
    put(0, "grown", "{\"rate\":1,\"period\":\"1h\",\"capacity\":100}");
    assign(1, "spread", "grown");
    for (int i = 0; i < 60; i++) {
      assertThat(cluster.client(i % NODES).check("spread").status()).isEqualTo(200);
    }

    put(1, "grown", "{\"rate\":1,\"period\":\"1h\",\"capacity\":200}");

    for (NodeClient node : cluster.clients()) {
      await().atMost(IN_FORCE).until(() -> node.remaining("spread") == 140);
    }
    long admitted =
        Crowd.call(NODES * 4, 20, call -> cluster.client(call).check("spread")).stream()
            .filter(Answer::admitted)
            .count();
    assertThat(admitted).isLessThanOrEqualTo(140);
    assertThat(admitted + cluster.client(0).remaining("spread")).isLessThanOrEqualTo(140);
  }

  @Test
  void nodesThatShareALimitOfOneAdmitOne() {
    put(0, "one", "{\"rate\":1,\"period\":\"1h\",\"capacity\":1}");
    for (int round = 0; round < 20; round++) {
      String key = "contended-" + round;
      List<Answer> answers =
          Crowd.call(6, 1, call -> cluster.client(call % NODES).check(key, "one", 1));
      assertThat(answers).as(key).filteredOn(Answer::admitted).hasSize(1);
    }
  }

  @Test
  void nodesThatShareALimitOfFiveAdmitFive() {
    put(0, "five", "{\"rate\":1,\"period\":\"1h\",\"capacity\":5}");
    List<Answer> answers =
        Crowd.call(60, 1, call -> cluster.client(call % NODES).check("crowded", "five", 1));
    assertThat(answers).filteredOn(Answer::admitted).hasSize(5);
  }

  @Test
  void assignmentOnOneNodeHoldsOnAll() {
    put(0, "tier", "{\"rate\":1,\"period\":\"1h\",\"capacity\":7}");
    assign(2, "assigned/to:tier", "tier");
    assertThat(cluster.client(1).adminDelete("/admin/limits/assigned%2Fto:tier").status())
        .isEqualTo(204);
    for (NodeClient node : cluster.clients()) {
      await().atMost(IN_FORCE).until(() -> !planOf(node, "assigned/to:tier").equals("tier"));
    }
  }

  @Test
  void keyBurstsFivefoldOnAllNodesUntilItsOverrideEndsByItself() {
    put(0, "calm", "{\"rate\":1,\"period\":\"1h\",\"capacity\":20}");
    assign(0, "burster", "calm");
    assertThat(admittedOf(60, "burster")).isEqualTo(20);

    String fivefold = "{\"capacity\":100,\"expires_in\":\"10s\"}";
    assertThat(cluster.client(1).adminPut("/admin/limits/burster", fivefold).status())
        .isEqualTo(204);
    for (NodeClient node : cluster.clients()) {
      await().atMost(IN_FORCE).until(() -> limitOf(node, "burster") == 100);
      JsonObject override = node.adminGet("/limits/burster").json().getJsonObject("override");
      assertThat(override.getDouble("expires_in")).isBetween(0.0, 10.0);
    }
    assertThat(admittedOf(120, "burster")).isEqualTo(80);
    assertThat(admittedOf(60, "neighbour")).isEqualTo(20);

    for (NodeClient node : cluster.clients()) {
      await().atMost(Duration.ofSeconds(12)).until(() -> limitOf(node, "burster") == 20);
      assertThat(node.adminGet("/limits/burster").json().containsKey("override")).isFalse();
    }
    assertThat(admittedOf(9, "burster")).isZero();
  }

  /** How many of so many checks under the plan {@code calm}, spread over the nodes, are allowed. */
  private long admittedOf(int checks, String key) {
    return IntStream.range(0, checks)
        .filter(i -> cluster.client(i % NODES).check(key, "calm", 1).admitted())
        .count();
  }

  private static long limitOf(NodeClient node, String key) {
    return node.check(key, "calm", 0).json().getLong("limit");
  }

  @Test
  void hotKeysOfAllNodesAreToldByEach() {
    put(0, "hot", "{\"rate\":1,\"period\":\"1h\",\"capacity\":60}");
    for (int i = 0; i < 90; i++) {
      cluster.client(i % NODES).check("hot key/{}", "hot", 1);
    }
    for (NodeClient node : cluster.clients()) {
      JsonObject hot = node.adminGet("/hot-keys?limit=1000").json();
      assertThat(hot.getJsonArray("silent")).isEmpty();
      assertThat(hot.getJsonArray("busiest"))
          .contains(new JsonObject().put("key", "hot key/{}").put("units", 60));
      assertThat(hot.getJsonArray("denied"))
          .contains(new JsonObject().put("key", "hot key/{}").put("decisions", 30));
    }
  }

  @Test
  void resetOnOneNodeGivesAllBackOnAllAtOnce() {
    put(0, "reset", "{\"rate\":1,\"period\":\"1h\",\"capacity\":3000}");
    for (int i = 0; i < NODES; i++) {
      assertThat(cluster.client(i).check("forgotten", "reset", 900).admitted()).isTrue();
      assertThat(cluster.client(i).check("kept", "reset", 900).admitted()).isTrue();
    }
    // Which the others hold permits of as well, small ones after a large one.
    for (int i = 0; i < 200; i++) {
      cluster.client(i % NODES).check("forgotten", "reset", 1);
    }

    cluster.client(1).reset("forgotten");

    for (int i = 0; i < NODES; i++) {
      assertThat(cluster.client(i).check("forgotten", "reset", 1000).admitted()).isTrue();
    }
    assertThat(cluster.client(0).check("forgotten", "reset", 1).admitted()).isFalse();
    assertThat(cluster.client(2).check("kept", "reset", 301).admitted()).isFalse();
  }

  @Test
  void endpointWeightSetOnOneNodeHoldsOnAll() {
    put(0, "weighed", "{\"rate\":1,\"period\":\"1h\",\"capacity\":100}");
    assertThat(cluster.client(0).adminPut("/endpoints/export", "{\"weight\":25}").status())
        .isEqualTo(204);
    for (int i = 0; i < NODES; i++) {
      NodeClient node = cluster.client(i);
      String key = "exporter-" + i;
      int[] tries = {0};
      await()
          .atMost(IN_FORCE)
          .until(
              () ->
                  node.check(
                              new JsonObject()
                                  .put("key", key + "-" + tries[0]++)
                                  .put("plan", "weighed")
                                  .put("endpoint", "export"))
                          .remaining()
                      == 75);
    }
  }

  /** Last, since it leaves two nodes to the others. */
  @Test
  @Order(Integer.MAX_VALUE)
  void nodeThatIsTerminatedHandsBackItsPermits() {
    put(0, "held", "{\"rate\":1,\"period\":\"1h\",\"capacity\":1000000}");
    assign(0, "holder", "held");
    for (int i = 0; i < 200; i++) {
      assertThat(cluster.client(2).check("holder").status()).isEqualTo(200);
    }

    assertThat(cluster.terminate(2)).isZero();

    assertThat(cluster.client(0).remaining("holder")).isEqualTo(1_000_000 - 200);
    cluster.awaitCount(2);
  }

  /** Puts a plan on one node and sees it in force on all. */
  private void put(int index, String plan, String json) {
    cluster.client(index).putPlan(plan, json);
    long capacity = new JsonObject(json).getLong("capacity");
    for (NodeClient node : cluster.clients()) {
      await()
          .atMost(IN_FORCE)
          .until(
              () -> {
                Answer peek = node.check("onlooker of " + plan, plan, 0);
                return peek.status() == 200 && peek.json().getLong("limit") == capacity;
              });
    }
  }

  /** Assigns a key on one node and sees it hold on all. */
  private void assign(int index, String key, String plan) {
    cluster.client(index).assign(key, plan);
    for (NodeClient node : cluster.clients()) {
      await().atMost(IN_FORCE).until(() -> planOf(node, key).equals(plan));
    }
  }

  private static String planOf(NodeClient node, String key) {
    return node.check(new JsonObject().put("key", key).put("cost", 0)).json().getString("plan");
  }
}
