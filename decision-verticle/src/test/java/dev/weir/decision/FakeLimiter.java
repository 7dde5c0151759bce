package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Allowed;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import dev.weir.client.LimitPolicy;
import dev.weir.client.LimitStatus;
import dev.weir.client.RateLimiter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Ten permits for every key, never to come back. The plan {@code nowhere} does not exist, the key
 * {@code stranger} has none, {@code faulty} meets a fault of ours, {@code slow} is decided when the
 * test says so, and {@code refused} is on a plan that is closed while the store is away, as it is.
 */
final class FakeLimiter implements RateLimiter {

  static final long QUOTA = 10;

  private final Map<String, Long> used = new HashMap<>();
  private Optional<Promise<Decision>> slow = Optional.empty();

  @Override
  public synchronized Future<Decision> check(CheckRequest request) {
    try {
      requireResolvable(request);
    } catch (CheckRefusedException refused) {
      return Future.failedFuture(refused);
    }
    if (request.key().equals("faulty")) {
      throw new IllegalStateException("made to fail");
    }
    if (request.key().equals("slow")) {
      Promise<Decision> promise = Promise.promise();
      slow = Optional.of(promise);
      return promise.future();
    }
    return Future.succeededFuture(decide(request));
  }

  static void requireResolvable(CheckRequest request) {
    if (request.plan().equals("nowhere")) {
      throw CheckRefusedException.unknownPlan("plan: there is no such plan");
    }
    if (request.key().equals("stranger")) {
      throw CheckRefusedException.unknownKey("key: has no plan");
    }
  }

  synchronized long used(String key) {
    return used.getOrDefault(key, 0L);
  }

  /** The decision that someone waits for, once someone does. */
  synchronized Optional<Promise<Decision>> slow() {
    return slow;
  }

  synchronized Decision decide(CheckRequest request) {
    long cost = request.cost() == CheckRequest.COST_OF_ENDPOINT ? 1 : request.cost();
    long before = used(request.key());
    String plan = request.plan().isEmpty() ? "free" : request.plan();
    boolean degraded = request.endpoint().equals("degraded");
    if (request.key().equals("refused")) {
      LimitStatus last = status(QUOTA);
      return new Denied(
          request.key(), plan, last, List.of(last), 12_051, true, Reason.STORE_AWAY, 1_000);
    }
    if (before + cost > QUOTA) {
      LimitStatus status = status(QUOTA - before);
      Reason reason = cost > QUOTA ? Reason.COST_EXCEEDS_LIMIT : Reason.LIMIT;
      long retry = cost > QUOTA ? Denied.NEVER : 900;
      return new Denied(request.key(), plan, status, List.of(status), 0, degraded, reason, retry);
    }
    used.put(request.key(), before + cost);
    LimitStatus status = status(QUOTA - before - cost);
    return new Allowed(request.key(), plan, status, List.of(status), 0, degraded);
  }

  private static LimitStatus status(long remaining) {
    return new LimitStatus(
        new LimitPolicy("default", QUOTA, 10), remaining, 1_000 * (QUOTA - remaining));
  }
}
