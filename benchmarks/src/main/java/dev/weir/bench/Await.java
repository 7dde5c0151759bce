package dev.weir.bench;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for futures, on threads that nothing else needs. */
final class Await {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Await() {}

  /**
   * What {@code future} comes to.
   *
   * @throws IllegalStateException if it fails, or takes more than a minute
   */
  static <T> T done(Future<T> future) {
    return done(future, Duration.ZERO);
  }

  /**
   * What {@code future} comes to that takes some time.
   *
   * @throws IllegalStateException if it fails, or takes a minute more
   */
  static <T> T done(Future<T> future, Duration usual) {
    Duration patience = usual.plus(PATIENCE);
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("not done within " + patience.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
