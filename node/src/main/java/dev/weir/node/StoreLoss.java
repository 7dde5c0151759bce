package dev.weir.node;

import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Has all nodes tell the store what they know of it, when this one finds that it may have lost its
 * data: what one node knows of a key others may not. Owned by the event loop of the store.
 */
final class StoreLoss {

  /** What nodes are asked to do. */
  static final String CALL = "carry-over";

  /** A store in many parts may lose one after another. */
  private static final long REST_MILLIS = 500;

  private static final String LOSSES = "losses";
  private static final String FINDER = "finder";

  private final Vertx vertx;
  private final String self;
  private final Consumer<JsonObject> nodes;
  private final Set<String> found = new LinkedHashSet<>();
  private boolean resting;

  /** Has what a node knows carried over. */
  @FunctionalInterface
  interface Carrier {

    /**
     * Carries it over for a loss.
     *
     * @param foundHere whether this node found it itself
     */
    void carryOver(String loss, boolean foundHere);
  }

  /**
   * @param self the address of this node
   * @param nodes asks all of them to {@link #obey}
   */
  StoreLoss(Vertx vertx, String self, Consumer<JsonObject> nodes) {
    this.vertx = vertx;
    this.self = self;
    this.nodes = nodes;
  }

  /** To be called when a loss is found. */
  void found(String loss) {
    found.add(loss);
    if (!resting) {
      tell();
    }
  }

  private void tell() {
    resting = !found.isEmpty();
    if (resting) {
      nodes.accept(
          new JsonObject().put(FINDER, self).put(LOSSES, new JsonArray(List.copyOf(found))));
      found.clear();
      vertx.setTimer(REST_MILLIS, timer -> tell());
    }
  }

  /** What a node does that is asked. */
  static Function<JsonObject, JsonObject> obey(String self, Carrier carrier) {
    return question -> {
      boolean foundHere = self.equals(question.getString(FINDER));
      for (Object loss : question.getJsonArray(LOSSES)) {
        carrier.carryOver((String) loss, foundHere);
      }
      return new JsonObject();
    };
  }
}
