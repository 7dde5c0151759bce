package dev.weir.bench;

import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for futures, on threads that nothing else needs. */
final class Await {

  private static final long PATIENCE_SECONDS = 60;

  private Await() {}

  /**
   * What {@code future} comes to.
   *
   * @throws IllegalStateException if it does not within a minute
   */
  static <T> T done(Future<T> future) {
    try {
      return future.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("not done within " + PATIENCE_SECONDS + " s", e);
    }
  }
}
