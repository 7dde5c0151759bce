package dev.weir.client;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;

/** Asks whether a key may spend. Safe to use from any thread. */
@FunctionalInterface
public interface RateLimiter {

  /**
   * The limiter of {@code vertx}, waiting at most two seconds where it has to ask another process.
   * The first question of all opens a connection, the others take a fraction of a millisecond.
   *
   * @see #create(Vertx, Duration)
   */
  static RateLimiter create(Vertx vertx) {
    return create(vertx, Duration.ofSeconds(2));
  }

  /**
   * The limiter of {@code vertx}: its own node's, called directly, if one is deployed in it;
   * otherwise any node of the Vert.x cluster, asked over the event bus. It may be made before the
   * node is deployed, and is best made once and kept.
   *
   * <p>Beside {@link CheckRefusedException}, a check fails with an {@code IllegalStateException}
   * when there is neither node nor cluster, and with Vert.x's {@code ReplyException} when no node
   * of the cluster answers.
   *
   * @param timeout for an answer from another process, at least a millisecond
   */
  static RateLimiter create(Vertx vertx, Duration timeout) {
    return new BusRateLimiter(vertx, timeout);
  }

  /**
   * The decision on {@code request}. Within a node it is complete at once whenever the node's own
   * permits or knowledge suffice; elsewhere it is fetched over the event bus.
   *
   * @return a future that fails with {@link CheckRefusedException} when the request is wrong
   */
  Future<Decision> check(CheckRequest request);

  /** The decision on one request of {@code key}, at the weight of no endpoint, which is 1. */
  default Future<Decision> check(String key) {
    CheckRequest request;
    try {
      request = CheckRequest.of(key);
    } catch (CheckRefusedException refused) {
      return Future.failedFuture(refused);
    }
    return check(request);
  }

  /**
   * The decision on one request of {@code key} for {@code cost} permits.
   *
   * @param cost 0 to {@value CheckRequest#MAX_COST}; 0 looks without spending
   */
  default Future<Decision> check(String key, long cost) {
    CheckRequest request;
    try {
      request = CheckRequest.of(key).withCost(cost);
    } catch (CheckRefusedException refused) {
      return Future.failedFuture(refused);
    }
    return check(request);
  }
}
