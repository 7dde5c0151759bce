package dev.weir.config;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The changes made on a node that is alone; used under its lock. */
final class LocalAuditLog implements AuditLog {

  private final Deque<JsonObject> changes = new ArrayDeque<>();

  @Override
  public synchronized Future<Void> add(JsonObject change) {
    changes.addFirst(change);
    if (changes.size() > CAPACITY) {
      changes.removeLast();
    }
    return Future.succeededFuture();
  }

  @Override
  public synchronized Future<List<JsonObject>> recent() {
    return Future.succeededFuture(List.copyOf(changes));
  }
}
