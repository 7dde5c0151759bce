package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FileReloadsTest {

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void aLookThatFailsEndsNeitherItselfNorTheOthers() throws InterruptedException {
    CountDownLatch failed = new CountDownLatch(2);
    CountDownLatch looked = new CountDownLatch(2);
    Runnable failing =
        () -> {
          failed.countDown();
          throw new IllegalStateException("meant by this test");
        };
    vertx
        .deployVerticle(
            new FileReloads(List.of(failing, looked::countDown), 1),
            new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER))
        .await();

    assertThat(failed.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(looked.await(20, TimeUnit.SECONDS)).isTrue();
  }
}
