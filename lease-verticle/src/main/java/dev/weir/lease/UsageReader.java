package dev.weir.lease;

import io.vertx.core.Future;

/**
 * Reads what the nodes have used. One page at a time: it is acknowledged before the next is asked
 * for. Futures fail with {@link StoreAwayException} if the store does not answer; whatever was
 * asked may be asked again. Safe to use from any thread, one after the other.
 */
public interface UsageReader {

  /** Connects. Fails when the store is out of reach; it then goes on trying by itself. */
  Future<Void> start();

  /** What comes next; an empty page if there is nothing now. */
  Future<UsagePage> next();

  /** Says that a page is dealt with, so that nobody reads it again. */
  Future<Void> acknowledge(UsagePage page);

  /** Has windows sealed that are due, some at a time, and tells what is left to do. */
  Future<UsageProgress> progress();

  /** Ends the connection. What was read and not acknowledged is for another reader. */
  Future<Void> close();
}
