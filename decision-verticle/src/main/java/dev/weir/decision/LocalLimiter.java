package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Consumer;

/**
 * The {@link RateLimiter} of a node: the {@link Decider}, with answers brought back to the caller's
 * context.
 */
public final class LocalLimiter implements RateLimiter, KeyInspector {

  private final Vertx vertx;
  private final Decider decider;

  public LocalLimiter(Vertx vertx, Decider decider) {
    this.vertx = vertx;
    this.decider = decider;
  }

  @Override
  public Future<Decision> check(CheckRequest request) {
    try {
      Answer<Decision> answer = new Answer<>();
      Decision decision = decider.decide(request, answer);
      return decision != null ? Future.succeededFuture(decision) : answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Future<KeyLimits> inspect(String key) {
    try {
      Answer<KeyLimits> answer = new Answer<>();
      decider.inspect(key, answer);
      return answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }
}
