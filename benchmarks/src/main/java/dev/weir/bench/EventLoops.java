package dev.weir.bench;

import io.vertx.core.Context;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;

/** Event loops of a Vert.x for those who are no verticles. */
final class EventLoops {

  private EventLoops() {}

  /** The context of the next event loop. */
  static Context next(Vertx vertx) {
    return ((VertxInternal) vertx)
        .contextBuilder()
        .withThreadingModel(ThreadingModel.EVENT_LOOP)
        .build();
  }
}
