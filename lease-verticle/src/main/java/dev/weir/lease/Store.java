package dev.weir.lease;

import dev.weir.config.Shard;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Consumer;

/**
 * The counters that all nodes share.
 *
 * <p>Called from one Vert.x context, that of the lease verticle, on which its futures complete. It
 * sets no deadline of its own on a refill: the caller stops waiting when it likes, and takes a late
 * outcome for what it is worth.
 */
public interface Store {

  /**
   * Takes, returns and charges permits, one atomic step per refill. Refills of one call travel
   * together, in one round trip per store node; those of one key and shard are carried out in the
   * order given.
   *
   * @return a future per refill, in order; none of them fails, since {@link
   *     RefillOutcome.Unavailable} is an outcome
   */
  List<Future<RefillOutcome>> refill(List<Refill> batch);

  /**
   * Forgets what {@code key} has used of the limits of {@code limitNames}, as {@code shard} counts
   * it, all of it or nothing.
   *
   * @return a future that fails with {@link StoreAwayException} if the store does not answer
   */
  Future<Void> forget(String key, Shard shard, List<String> limitNames);

  /**
   * Whether the outcomes of {@link #refill} are there when it returns, so that nobody has to wait
   * for it. Such a store may be called from any thread.
   */
  boolean immediate();

  /** Whether all of the store is connected and answers in time. One in the process always is. */
  default boolean healthy() {
    return true;
  }

  /**
   * Has {@code listener} told, on the store's context, whenever the store may have lost data: nodes
   * were told of more than it knows. Replaces the listener before. What is in the process goes with
   * the node itself, so that nobody is left to be told.
   *
   * @param listener told what the loss is known by, the same on every node that finds it
   */
  default void onLoss(Consumer<String> listener) {}

  /**
   * Connects and makes the first call, so that no caller pays for it. Fails when the store is out
   * of reach; the store then goes on trying by itself. One in the process has nothing to connect.
   */
  default Future<Void> start() {
    return Future.succeededFuture();
  }

  /** Ends all connections, if any; refills that are under way become unavailable. */
  default Future<Void> close() {
    return Future.succeededFuture();
  }
}
