package dev.weir.lease;

import io.vertx.core.Future;

/** One Redis that has all keys. */
record SingleNode(RedisShard shard) implements RedisNodes {
  private static final int ANY_SLOT = 0;

  @Override
  public Future<Void> start() {
    return shard.start();
  }

  @Override
  public boolean isHealthy() {
    return shard.isHealthy();
  }

  @Override
  public Future<RefillOutcome> refill(String tag, Errand errand) {
    return shard.refill(ANY_SLOT, errand);
  }

  @Override
  public Future<Void> close() {
    return shard.close();
  }
}
