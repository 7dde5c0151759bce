package dev.weir.bench;

import io.vertx.core.Future;

/** What a load consists of. */
@FunctionalInterface
interface Request {

  /** Makes one more. Called on one Vert.x context, on which the future completes. */
  Future<?> send();
}
