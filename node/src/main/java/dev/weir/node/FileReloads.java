package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.List;

/**
 * Looks time and again whether files that settings name have changed. To be deployed on a worker
 * thread, since it waits for the disk; the next look at a file begins when the last one is over.
 */
final class FileReloads extends VerticleBase {

  private final List<Runnable> looks;
  private final long everyMillis;

  /**
   * @param looks each reads its files again; one that throws takes away neither the others nor its
   *     next time
   */
  FileReloads(List<Runnable> looks, long everyMillis) {
    this.looks = List.copyOf(looks);
    this.everyMillis = everyMillis;
  }

  @Override
  public Future<?> start() {
    looks.forEach(this::lookLater);
    return Future.succeededFuture();
  }

  private void lookLater(Runnable look) {
    vertx.setTimer(
        everyMillis,
        timer -> {
          try {
            look.run();
          } finally {
            lookLater(look);
          }
        });
  }
}
