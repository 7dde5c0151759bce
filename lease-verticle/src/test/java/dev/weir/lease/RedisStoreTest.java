package dev.weir.lease;

/** On the Redis that this machine has. */
final class RedisStoreTest extends RedisStoreContract {

  @Override
  RedisServer server() {
    return RedisServer.shared();
  }
}
