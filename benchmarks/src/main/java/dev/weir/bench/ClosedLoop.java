package dev.weir.bench;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.HdrHistogram.Histogram;

/**
 * As many requests as are answered in a time, with a number of them under way: each answer is
 * followed by the next request. Owned by the event loop that it runs on.
 */
final class ClosedLoop {

  /** Answers that are there at once, before the event loop has its turn. */
  private static final int AT_ONCE = 256;

  private final Context context;
  private final Request request;
  private final long begin = System.nanoTime();
  private final long end;
  private final Histogram latencies = Load.noLatencies();
  private final Promise<Load> load = Promise.promise();
  private int lanes;
  private long answered;

  private ClosedLoop(Context context, int underWay, Duration length, Request request) {
    this.context = context;
    this.lanes = underWay;
    this.end = begin + length.toNanos();
    this.request = request;
  }

  /**
   * Runs it to its end, on an event loop of its own.
   *
   * @param underWay requests at any moment, 1 or more
   * @throws IllegalStateException if a request fails
   */
  static Load run(Vertx vertx, int underWay, Duration length, Request request) {
    Context context = EventLoops.next(vertx);
    Promise<Load> load = Promise.promise();
    context.runOnContext(
        ignored -> {
          ClosedLoop loop = new ClosedLoop(context, underWay, length, request);
          loop.load.future().onComplete(load);
          for (int lane = 0; lane < underWay; lane++) {
            loop.next();
          }
        });
    return Await.done(load.future(), length);
  }

  private void next() {
    for (int atOnce = 0; atOnce < AT_ONCE; atOnce++) {
      long now = System.nanoTime();
      if (now >= end) {
        leave();
        return;
      }
      Future<?> answer = request.send();
      if (!answer.isComplete()) {
        answer.onComplete(
            result -> {
              if (count(now, result)) {
                next();
              }
            });
        return;
      }
      if (!count(now, answer)) {
        return;
      }
    }
    context.runOnContext(ignored -> next());
  }

  private boolean count(long since, AsyncResult<?> result) {
    if (result.failed()) {
      load.tryFail(result.cause());
      return false;
    }
    latencies.recordValue(System.nanoTime() - since);
    answered++;
    return true;
  }

  private void leave() {
    lanes--;
    if (lanes == 0) {
      load.tryComplete(new Load(answered, System.nanoTime() - begin, latencies));
    }
  }
}
