package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;

/**
 * Reads the bodies of calls into memory: small ones, and one large one at a time, so that however
 * many are sent, what they take is bounded. A caller who goes away does not end the work that a
 * large one makes, so the next has to wait for that too. Owned by one event loop.
 */
final class CallBody implements Handler<RoutingContext> {

  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_LARGE_BYTES = 64 << 20;

  private static final String WORK = "dev.weir.node.work";

  private final BodyHandler small = BodyHandler.create(false).setBodyLimit(MAX_BYTES);
  private final BodyHandler large = BodyHandler.create(false).setBodyLimit(MAX_LARGE_BYTES);
  private final String largePath;
  private boolean busy;

  /**
   * @param largePath of the call with a large body, by POST
   */
  CallBody(String largePath) {
    this.largePath = largePath;
  }

  @Override
  public void handle(RoutingContext context) {
    if (!context.request().method().equals(HttpMethod.POST)
        || !RoutedPath.of(context.request()).equals(largePath)) {
      small.handle(context);
    } else if (busy) {
      // Its body is not read, so nothing can follow it.
      context
          .response()
          .putHeader(HttpHeaders.RETRY_AFTER, "1")
          .putHeader(HttpHeaders.CONNECTION, "close");
      Problem.of(503, "another POST " + largePath + " is under way on this node")
          .send(context.response());
    } else {
      busy = true;
      context.addEndHandler(ended -> work(context).onComplete(done -> busy = false));
      large.handle(context);
    }
  }

  /** Tells what a call with a large body has begun, for which no other is let in. */
  static <T> Future<T> working(RoutingContext context, Future<T> work) {
    context.put(WORK, work);
    return work;
  }

  private static Future<?> work(RoutingContext context) {
    Future<?> begun = context.get(WORK);
    return begun == null ? Future.succeededFuture() : begun;
  }
}
