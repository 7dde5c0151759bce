package dev.weir.decision;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Consumer;

/** An answer that comes from another thread, as a future that completes on the asker's context. */
final class Answer<T> implements Consumer<T> {

  private final Context context;
  private final Promise<T> promise = Promise.promise();

  /** To be made on the context that asks. */
  Answer(Vertx vertx) {
    this.context = vertx.getOrCreateContext();
  }

  @Override
  public void accept(T answer) {
    context.runOnContext(ignored -> promise.complete(answer));
  }

  Future<T> future() {
    return promise.future();
  }
}
