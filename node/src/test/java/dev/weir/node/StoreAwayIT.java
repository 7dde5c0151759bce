package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A node whose Redis dies under traffic. */
final class StoreAwayIT {

  @Test
  void answersAreFlaggedWhileRedisIsAwayAndNoneIsAnError() {
    try (RedisServer redis = RedisServer.start()) {
      Map<String, String> settings = RunningNode.settings();
      settings.put("WEIR_STORE", redis.url());
      try (RunningNode process = RunningNode.start(settings)) {
        NodeClient node = process.client();
        node.putPlan("away", "{\"rate\":10,\"period\":\"1s\",\"capacity\":10}");
        // On a busy machine one answer of a healthy store may take more than the 5 ms that it has.
        awaitTheStoresWord(node);

        AtomicBoolean killed = new AtomicBoolean();
        Traffic.Tally tally =
            Traffic.steady(
                "steadfast",
                "away",
                List.of(node),
                200,
                Duration.ofSeconds(5),
                Duration.ofSeconds(1),
                () -> {
                  if (killed.compareAndSet(false, true)) {
                    redis.kill();
                  }
                });
        assertThat(tally.errors()).as("%s", tally).isZero();
        assertThat(tally.degraded()).as("%s", tally).isPositive();
        assertThat(tally.admitted()).as("%s", tally).isPositive();
        Answer degraded = node.check("never seen before", "away", 1);
        assertThat(degraded.status()).isEqualTo(200);
        assertThat(degraded.degraded()).isTrue();
        assertThat(degraded.header("X-RateLimit-Degraded")).isEqualTo("true");
        assertThat(node.adminGet("/health/live").status()).isEqualTo(200);

        redis.restart();
        awaitTheStoresWord(node);
      }
    }
  }

  /** More than once, since on a busy machine an answer of the store may take longer than 5 ms. */
  private static void awaitTheStoresWord(NodeClient node) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> !node.check("steadfast", "away", 1).degraded());
  }
}
