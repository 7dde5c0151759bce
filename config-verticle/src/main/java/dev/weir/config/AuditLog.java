package dev.weir.config;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The last changes of the configuration, of all nodes together. Safe to use from any thread. */
public interface AuditLog {

  /** How many changes are kept; with one more the oldest goes. */
  int CAPACITY = 1000;

  /** Adds a change. Fails if the cluster does not answer in time. */
  Future<Void> add(JsonObject change);

  /** The changes kept, the newest first. Fails if the cluster does not answer in time. */
  Future<List<JsonObject>> recent();
}
