package dev.weir.node;

import static dev.weir.node.LoadedLimit.OUTSTANDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
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

  private static final int KEYS_THAT_OWE = 3_000;

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

  /**
   * Each key that is owed for asks once, many in a call; and while Redis is away one asks for all.
   */
  @Test
  void redisThatComesBackIsNotRunOver() {
    redis.call("FLUSHALL");
    redis.call("SAVE");
    for (NodeClient node : cluster.clients()) {
      node.putPlan("slow", "{\"rate\":1,\"period\":\"1d\",\"capacity\":100}");
      await().until(() -> node.check("onlooker", "slow", 0).status() == 200);
    }
    redis.kill();
    for (int i = 0; i < NODES; i++) {
      JsonArray checks = new JsonArray();
      for (int key = 0; key < KEYS_THAT_OWE; key++) {
        checks.add(new JsonObject().put("key", "owing " + i + " " + key).put("plan", "slow"));
      }
      JsonArray decisions = cluster.client(i).batch(checks).json().getJsonArray("decisions");
      assertThat(decisions)
          .hasSize(KEYS_THAT_OWE)
          .allMatch(decision -> ((JsonObject) decision).getBoolean("allowed"));
    }
    for (NodeClient node : cluster.clients()) {
      double before = node.metric("weir_refills_unavailable_total");
      await().until(() -> node.metric("weir_refills_unavailable_total") >= before + 5);
      assertThat(node.metric("weir_refills_unavailable_total") - before)
          .isLessThan(KEYS_THAT_OWE / 10.0);
    }
    double refillsBefore = refillsSent();
    redis.restart();

    int debts = NODES * KEYS_THAT_OWE;
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                cluster.clients().stream()
                        .noneMatch(node -> node.check("onlooker", "slow", 0).degraded())
                    && (Long) redis.call("DBSIZE") >= debts
                    && refillsSent() - refillsBefore >= debts);

    // Each is settled, and told of since the store may have lost it, by one refill or by two.
    assertThat(refillsSent() - refillsBefore).isLessThanOrEqualTo(debts * 2.2);
    assertThat(scriptCalls()).isBetween(debts / 256L, debts / 16L);
  }

  private double refillsSent() {
    return cluster.clients().stream()
        .mapToDouble(node -> node.metric("weir_store_call_keys_sum"))
        .sum();
  }

  /** Since Redis was started. */
  private long scriptCalls() {
    return Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)")
        .matcher(redis.call("INFO", "commandstats").toString())
        .results()
        .mapToLong(found -> Long.parseLong(found.group(1)))
        .sum();
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
