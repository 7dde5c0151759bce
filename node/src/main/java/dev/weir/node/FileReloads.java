package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.List;

/**
 * Looks every two seconds whether files that settings name have changed. To be deployed on a worker
 * thread, since it waits for the disk; the next look begins when the last one is over.
 */
final class FileReloads extends VerticleBase {

  static final long LOOK_MILLIS = 2_000;

  private final List<Runnable> looks;

  /**
   * @param looks each reads its files again; none may throw
   */
  FileReloads(List<Runnable> looks) {
    this.looks = List.copyOf(looks);
  }

  @Override
  public Future<?> start() {
    lookLater();
    return Future.succeededFuture();
  }

  private void lookLater() {
    vertx.setTimer(
        LOOK_MILLIS,
        timer -> {
          looks.forEach(Runnable::run);
          lookLater();
        });
  }
}
