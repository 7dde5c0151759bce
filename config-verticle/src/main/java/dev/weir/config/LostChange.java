package dev.weir.config;

import io.vertx.core.json.JsonObject;
import java.util.Optional;

/**
 * A change that was made in a part of a split cluster, or before a node stopped, and is not in the
 * configuration that has the higher version.
 *
 * @param kind of what was changed
 * @param name of the plan, the endpoint or the key; empty if there is one of the kind only
 * @param lost what it had been changed to; empty if it had been removed
 * @param kept what it is now; empty if it is not there
 */
public record LostChange(
    Kind kind, String name, Optional<JsonObject> lost, Optional<JsonObject> kept) {

  /** What can be changed. */
  public enum Kind {
    PLAN,
    ENDPOINT,
    KEY,
    DEFAULT_PLAN,
    GATEWAY,
    REGIONS,
    /** More keys than are told one by one; {@code lost} has their number. */
    MORE_KEYS
  }
}
