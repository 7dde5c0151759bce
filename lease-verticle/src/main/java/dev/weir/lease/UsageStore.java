package dev.weir.lease;

import io.vertx.core.Future;
import java.util.List;

/**
 * Where the usage of all nodes is added up. Safe to use from any thread; futures complete on the
 * store's own context. They fail with {@link StoreAwayException} when the store does not answer
 * within about a second, or at once when it is known to be out of reach.
 */
public interface UsageStore {

  /**
   * Brings a batch. One that is brought again, whole and unchanged, counts once.
   *
   * @return a future that fails if it is not known, or known not, to have counted
   */
  Future<UsageReceipt> report(UsageBatch batch);

  /** What {@code key} has used in the last hour or two, the oldest window first. */
  Future<List<RecentUsage>> recent(String key);

  /** Connects. Fails when the store is out of reach; it then goes on trying by itself. */
  Future<Void> start();

  /** Ends the connection. */
  Future<Void> close();
}
