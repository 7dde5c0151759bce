package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
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
  void nodeWithoutItsRedisEndsInOrder() {
    redis.kill();
    assertThat(node.check("never seen before", "away", 1).degraded()).isTrue();
    assertThat(process.terminate()).isZero();
  }

  private void assertAnswersWithoutTheStoreAfter(Runnable fault) {
    AtomicBoolean done = new AtomicBoolean();
    Traffic.Tally tally =
        Traffic.steady(
            "steadfast",
            "away",
            List.of(node),
            200,
            Duration.ofSeconds(5),
            Duration.ofSeconds(1),
            () -> {
              if (done.compareAndSet(false, true)) {
                fault.run();
              }
            });
    assertThat(tally.errors()).as("%s", tally).isZero();
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
