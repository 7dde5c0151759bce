package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node whose Redis dies or hangs under traffic, or is not there yet. */
final class StoreAwayIT {

  private final RedisServer redis = RedisServer.start();
  private RunningNode process;
  private NodeClient node;

  @BeforeEach
  void start() {
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_STORE", redis.url());
    process = RunningNode.start(settings);
    node = process.client();
    node.putPlan("away", "{\"rate\":10,\"period\":\"1s\",\"capacity\":10}");
    awaitTheStoresWord();
  }

  @AfterEach
  void stop() {
    process.close();
    redis.close();
  }

  @Test
  void redisThatDiesIsDoneWithoutUntilItIsBack() {
    assertAnswersWithoutTheStoreAfter(redis::kill);
    redis.restart();
    awaitTheStoresWord();
  }

  @Test
  void redisThatHangsIsDoneWithoutUntilItGoesOn() {
    assertAnswersWithoutTheStoreAfter(redis::suspend);
    redis.resume();
    awaitTheStoresWord();
  }

  @Test
  void nodeStartsWithoutRedisAndFindsItLater() {
    redis.kill();
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_STORE", redis.url());
    try (RunningNode late = RunningNode.start(settings)) {
      Answer answer = late.client().check("early", "free", 1);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
      assertThat(answer.degraded()).isTrue();

      redis.restart();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> !late.client().check("early", "free", 0).degraded());
      assertThat(late.terminate()).isZero();
    }
  }

  @Test
  void plansSayWhatBecomesOfRequestsWhileRedisIsAway() {
    String tight = "{\"rate\":1,\"period\":\"1h\",\"capacity\":2,\"on_store_failure\":\"%s\"}";
    node.putPlan("open", tight.formatted("open"));
    node.putPlan("closed", tight.formatted("closed"));
    redis.kill();

    for (int i = 0; i < 5; i++) {
      Answer allowed = node.check("trusted", "open", 1);
      assertThat(allowed.status()).as(allowed.toString()).isEqualTo(200);
      assertThat(allowed.degraded()).isTrue();
    }
    Answer refused = node.check("partner", "closed", 1);
    assertThat(refused.status()).as(refused.toString()).isEqualTo(503);
    assertThat(refused.header("Retry-After")).isEqualTo("1");
    assertThat(node.adminGet("/metrics").body())
        .contains("weir_degraded 1.0")
        .contains("outcome=\"refused\"");

    redis.restart();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> node.check("partner", "closed", 1).status() == 200);
    // What was allowed meanwhile has been charged, or will be by the time that it matters.
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> node.check("trusted", "open", 1).status() == 429);
  }

  @Test
  void nodeWithoutItsRedisEndsInOrder() {
    redis.kill();
    assertThat(node.check("never seen before", "away", 1).degraded()).isTrue();
    assertThat(process.terminate()).isZero();
  }

  private void assertAnswersWithoutTheStoreAfter(Runnable fault) {
    Traffic.Tally tally;
    try (Traffic traffic =
        Traffic.start(List.of(node), List.of(new Traffic.Demand("steadfast", "away", 200)))) {
      traffic.awaitSecondsWorth(1);
      fault.run();
      traffic.awaitSecondsWorth(4);
      tally = traffic.tally();
    }
    assertThat(tally.errors()).as("%s", tally).isEmpty();
    assertThat(tally.degraded()).as("%s", tally).isPositive();
    assertThat(tally.admitted()).as("%s", tally).isPositive();

    Answer degraded = node.check("never seen before", "away", 1);
    assertThat(degraded.status()).as(degraded.toString()).isEqualTo(200);
    assertThat(degraded.degraded()).isTrue();
    assertThat(degraded.header("X-RateLimit-Degraded")).isEqualTo("true");
    assertThat(node.adminGet("/health/live").status()).isEqualTo(200);
    assertThat(node.adminGet("/limits/demo").status()).isEqualTo(200);
  }

  /** More than once, since on a busy machine an answer of the store may take longer than 5 ms. */
  private void awaitTheStoresWord() {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> !node.check("steadfast", "away", 1).degraded());
  }
}
