package dev.weir.bench;

import io.vertx.core.Context;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Requests at a steady rate, whatever becomes of those before. The latency of each counts from when
 * it was to be made, so that it has the time in which it had to wait for others (Tene, "How NOT to
 * Measure Latency").
 *
 * <p>One thread tells the time, and an event loop, which owns all else, makes the requests.
 */
final class OpenLoop {

  /** How long the thread that tells the time sleeps at most. */
  private static final long TICK_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final Request request;
  private final double nanosEach;
  private final long count;
  private final long begin = System.nanoTime();
  private final Histogram latencies = Load.noLatencies();
  private final Promise<Load> load = Promise.promise();
  private long answered;

  private OpenLoop(double perSecond, Duration length, Request request) {
    this.nanosEach = TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.count = Math.max(1, (long) (length.toNanos() / nanosEach));
    this.request = request;
  }

  /**
   * Runs it to its end, and until all is answered.
   *
   * @param perSecond requests, above 0
   * @throws IllegalStateException if a request fails
   */
  static Load run(Vertx vertx, double perSecond, Duration length, Request request) {
    OpenLoop loop = new OpenLoop(perSecond, length, request);
    loop.pace(EventLoops.next(vertx));
    return Await.done(loop.load.future(), length);
  }

  private void pace(Context context) {
    long made = 0;
    while (made < count && !load.future().isComplete()) {
      long now = System.nanoTime() - begin;
      long due = Math.min(count, (long) (now / nanosEach) + 1);
      if (due > made) {
        long from = made;
        context.runOnContext(ignored -> make(from, due));
        made = due;
      }
      LockSupport.parkNanos(Math.min(TICK_NANOS, (long) (due * nanosEach) - now));
    }
  }

  private void make(long from, long to) {
    for (long number = from; number < to; number++) {
      long since = begin + (long) (number * nanosEach);
      request.send().onComplete(answer -> answered(since), load::tryFail);
    }
  }

  private void answered(long since) {
    latencies.recordValue(Math.max(0, System.nanoTime() - since));
    answered++;
    if (answered == count) {
      load.tryComplete(new Load(answered, System.nanoTime() - begin, latencies));
    }
  }
}
