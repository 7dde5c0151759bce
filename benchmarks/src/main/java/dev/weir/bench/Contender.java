package dev.weir.bench;

/** What decides whether a request may go on. Safe to use from any thread. */
@FunctionalInterface
interface Contender extends AutoCloseable {

  /** Decides on one request of {@code key}, and gives what callers are given. */
  Object decide(String key);

  @Override
  default void close() {}
}
