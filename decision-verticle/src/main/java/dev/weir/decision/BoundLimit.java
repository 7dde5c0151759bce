package dev.weir.decision;

import dev.weir.client.LimitPolicy;
import dev.weir.config.Algorithm;
import dev.weir.config.Limit;

/** A limit with what every decision on it would otherwise work out again. */
record BoundLimit(Limit limit, Algorithm algorithm, LimitPolicy policy) {

  static BoundLimit of(Limit limit) {
    Algorithm algorithm = limit.algorithm();
    return new BoundLimit(
        limit,
        algorithm,
        new LimitPolicy(limit.name(), algorithm.quota(), algorithm.windowSeconds()));
  }

  long quota() {
    return policy.quota();
  }
}
