package dev.weir.lease;

/** What a Redis for tests runs in. */
interface RedisHost extends AutoCloseable {

  String host();

  int port();

  void start();

  boolean isAlive();

  void kill();

  void suspend();

  void resume();

  @Override
  void close();
}
