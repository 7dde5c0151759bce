package dev.weir.lease;

import java.util.List;

/** On the Redis that this machine has. */
final class RedisUsageStoreTest extends RedisUsageStoreContract {

  @Override
  StoreUrl url() {
    return StoreUrl.parse(RedisServer.shared().url());
  }

  @Override
  List<RedisServer> servers() {
    return List.of(RedisServer.shared());
  }

  @Override
  RedisTime.Commands commands() {
    return new RedisTime.Standalone(RedisServer.shared().probe());
  }
}
