package dev.weir.decision;

import dev.weir.client.LimitPolicy;
import dev.weir.config.Limit;
import dev.weir.config.TokenBucket;

/** A limit with what every decision on it would otherwise work out again. */
record BoundLimit(Limit limit, TokenBucket bucket, LimitPolicy policy) {

  static BoundLimit of(Limit limit) {
    // An algorithm that is added makes this cast a compile error to look at, not a surprise.
    TokenBucket bucket = (TokenBucket) limit.algorithm();
    return new BoundLimit(
        limit, bucket, new LimitPolicy(limit.name(), bucket.quota(), bucket.windowSeconds()));
  }
}
