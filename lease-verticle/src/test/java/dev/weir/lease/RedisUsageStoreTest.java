package dev.weir.lease;

/** On the Redis that this machine has. */
final class RedisUsageStoreTest extends RedisUsageStoreContract {

  @Override
  StoreUrl url() {
    return StoreUrl.parse(RedisServer.shared().url());
  }

  @Override
  RedisTime.Commands commands() {
    return new RedisTime.Standalone(RedisServer.shared().probe());
  }
}
