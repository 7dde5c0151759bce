package dev.weir.client;

import io.vertx.core.Future;

/** Asks whether a key may spend. Safe to use from any thread. */
public interface RateLimiter {

  /**
   * The decision on {@code request}. Within a node it is complete at once whenever the node's own
   * permits or knowledge suffice; elsewhere it is fetched over the event bus.
   *
   * @return a future that fails with {@link CheckRefusedException} when the request is wrong
   */
  Future<Decision> check(CheckRequest request);
}
