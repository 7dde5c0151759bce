package dev.weir.decision;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.Clock;
import dev.weir.lease.Purpose;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * What came on this node of requests that bear an id, so that a repeated one gets the same: at once
 * when it is decided, and with the first when it is not yet. At most {@value #MOST} are known,
 * those of the last minute. Safe to use from any thread.
 */
final class OnceOutcomes {
  static final int MOST = 100_000;

  private record Id(String key, String id) {}

  /** By the text of what was asked. */
  private record Made(String request, Promise<Object> outcome) {}

  private final Vertx vertx;
  private final Cache<Id, Made> made;

  OnceOutcomes(Vertx vertx, Clock clock) {
    this.vertx = vertx;
    this.made =
        Caffeine.newBuilder()
            .maximumSize(MOST)
            .expireAfterWrite(Duration.ofMillis(Purpose.Once.LIFE_MILLIS))
            .ticker(() -> clock.micros() * 1000)
            .executor(Runnable::run)
            .build();
  }

  /** Tells a request by an id from any other. */
  static Purpose.Once once(CheckRequest request, long cost, String deed) {
    String asked = deed + ' ' + cost + '\n' + request.plan() + '\n' + request.endpoint();
    return new Purpose.Once(request.id(), asked);
  }

  /**
   * What comes of a request, or came of it before. One that is refused is as good as never made.
   *
   * @param ask asks for it
   */
  <T> Future<T> outcome(String key, Purpose.Once once, Class<T> type, Supplier<Future<T>> ask) {
    Id id = new Id(key, once.id());
    Made mine = new Made(once.request(), Promise.promise());
    Made first = made.asMap().putIfAbsent(id, mine);
    if (first != null) {
      return first.request.equals(once.request())
          ? here(first.outcome.future()).map(type::cast)
          : Future.failedFuture(CheckRefusedException.reusedId());
    }
    Future<T> outcome;
    try {
      outcome = ask.get();
    } catch (RuntimeException fault) {
      outcome = Future.failedFuture(fault);
    }
    return outcome.onComplete(
        mine.outcome::complete,
        failure -> {
          made.asMap().remove(id, mine);
          mine.outcome.fail(failure);
        });
  }

  /**
   * Refuses a request whose id was used with another one.
   *
   * @throws CheckRefusedException with code 422
   */
  void requireSame(String key, Purpose.Once once) {
    Made first = made.getIfPresent(new Id(key, once.id()));
    if (first != null && !first.request.equals(once.request())) {
      throw CheckRefusedException.reusedId();
    }
  }

  /** What another asker waits for, on the context of this one. */
  private Future<Object> here(Future<Object> outcome) {
    if (outcome.isComplete()) {
      return outcome;
    }
    Context context = vertx.getOrCreateContext();
    Promise<Object> again = Promise.promise();
    outcome.onComplete(
        told -> context.runOnContext(turn -> again.complete(told)),
        failure -> context.runOnContext(turn -> again.fail(failure)));
    return again.future();
  }
}
