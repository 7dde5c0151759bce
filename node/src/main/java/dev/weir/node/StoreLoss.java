package dev.weir.node;

import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
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

  private final Vertx vertx;
  private final Consumer<JsonObject> nodes;
  private boolean resting;
  private boolean found;

  /**
   * @param nodes asks all of them to {@link #obey}
   */
  StoreLoss(Vertx vertx, Consumer<JsonObject> nodes) {
    this.vertx = vertx;
    this.nodes = nodes;
  }

  /** To be called when the loss is found, as often as it is. */
  void found() {
    found = true;
    if (!resting) {
      tell();
    }
  }

  private void tell() {
    resting = found;
    if (found) {
      found = false;
      nodes.accept(new JsonObject());
      vertx.setTimer(REST_MILLIS, timer -> tell());
    }
  }

  /** What a node does that is asked. */
  static Function<JsonObject, JsonObject> obey(Runnable carryOver) {
    return question -> {
      carryOver.run();
      return new JsonObject();
    };
  }
}
