package dev.weir.node;

import dev.weir.lease.RecentUsage;
import dev.weir.lease.StoreAwayException;
import dev.weir.lease.UsageCounts;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Function;

/** What a key has used of late, for people to look at. */
final class KeyUsage {

  private final Function<String, Future<List<RecentUsage>>> store;

  /**
   * @param store tells the recent windows of a key, or fails with {@link StoreAwayException}
   */
  KeyUsage(Function<String, Future<List<RecentUsage>>> store) {
    this.store = store;
  }

  /** The windows of {@code key}, the newest first. */
  Future<JsonObject> of(String key) {
    return store
        .apply(key)
        .map(recent -> json(key, recent))
        .recover(failure -> Future.failedFuture(refused(failure)));
  }

  private static JsonObject json(String key, List<RecentUsage> recent) {
    JsonArray windows = new JsonArray();
    for (int i = recent.size() - 1; i >= 0; i--) {
      windows.add(json(recent.get(i)));
    }
    return new JsonObject().put("key", key).put("windows", windows);
  }

  private static JsonObject json(RecentUsage recent) {
    UsageCounts counts = recent.counts();
    return new JsonObject()
        .put("plan", recent.plan())
        .put("window_start", UsageFormat.time(recent.windowStartMillis()))
        .put("window_end", UsageFormat.time(recent.windowEndMillis()))
        .put("spent", counts.spent())
        .put("degraded", counts.degraded())
        .put("denied", counts.denied())
        .put("would_deny", counts.wouldDeny())
        .put("authorized", counts.authorized())
        .put("state", recent.sealed() ? "sealed" : "open");
  }

  private static Throwable refused(Throwable failure) {
    return failure instanceof StoreAwayException away
        ? new RefusedCallException(503, "store: " + Quoted.printable(away.getMessage()))
        : failure;
  }
}
