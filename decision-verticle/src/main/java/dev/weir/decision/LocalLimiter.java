package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/**
 * The {@link RateLimiter} of a node: the {@link Decider}, with answers that had to wait brought
 * back to the asker's context. Safe to use from any thread.
 */
public final class LocalLimiter implements RateLimiter, KeyInspector {

  private final Vertx vertx;
  private final Decider decider;

  public LocalLimiter(Vertx vertx, Decider decider) {
    this.vertx = vertx;
    this.decider = decider;
  }

  Decider decider() {
    return decider;
  }

  @Override
  public Future<Decision> check(CheckRequest request) {
    try {
      Decision decision = decider.decideAtOnce(request);
      if (decision != null) {
        return Future.succeededFuture(decision);
      }
      Answer<Decision> answer = new Answer<>(vertx);
      decision = decider.decideOrWait(request, answer);
      return decision != null ? Future.succeededFuture(decision) : answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  /** Drops what this node holds, owes and knows of a key that the store has forgotten. */
  public void forget(String key) {
    decider.forget(key);
  }

  /**
   * The {@code most} keys of this node that took the most permits lately, or were denied the most.
   */
  public HotKeyCounts hotKeys(int most) {
    return decider.hotKeys(most);
  }

  @Override
  public Future<KeyLimits> inspect(String key) {
    try {
      Answer<KeyLimits> answer = new Answer<>(vertx);
      decider.inspect(key, answer);
      return answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }
}
