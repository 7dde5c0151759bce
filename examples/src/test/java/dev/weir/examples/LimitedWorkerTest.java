package dev.weir.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import dev.weir.node.Settings;
import dev.weir.node.Weir;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LimitedWorkerTest {

  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger done = new AtomicInteger();

  @TempDir Path directory;

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void itDoesAsMuchAsItsLimitAllows() throws IOException {
    work("{rate: 1, period: 1h, capacity: 5}");

    RateLimiter limiter = RateLimiter.create(vertx);
    await().until(() -> !limiter.check("worker").await().allowed());
    Decision peek = limiter.check("worker", 0).await();

    // The one that asked here may have had a permit of the five.
    assertThat(done.get()).isBetween(4, 5);
    assertThat(peek.remaining()).isZero();
  }

  @Test
  void itGoesOnWhenTheWaitIsOver() throws IOException {
    work("{rate: 50, period: 1s, capacity: 1}");

    await().until(() -> done.get() >= 10);
  }

  private void work(String plan) throws IOException {
    Path plans =
        Files.writeString(
            directory.resolve("plans.yaml"), "default_plan: p\nplans:\n  p: " + plan + "\n");
    Settings settings =
        Settings.of(
            Map.of(
                "http.host", "127.0.0.1",
                "http.port", "0",
                "admin.port", "0",
                "data_dir", directory.toString(),
                "plans", plans.toString()));
    Weir.deploy(vertx, settings).await();
    vertx.deployVerticle(new LimitedWorker("worker", done::incrementAndGet)).await();
  }
}
