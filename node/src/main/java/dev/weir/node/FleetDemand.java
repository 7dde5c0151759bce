package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** What all nodes of a region are asked for together, permits a second by plan. */
final class FleetDemand {

  /** What nodes are asked for. */
  static final String CALL = "demand";

  private final Function<JsonObject, Future<NodeBus.Answers>> nodes;

  /**
   * @param nodes asks all of them to {@link #tell}
   */
  FleetDemand(Function<JsonObject, Future<NodeBus.Answers>> nodes) {
    this.nodes = nodes;
  }

  /** The sums over the nodes that answer. */
  Future<Map<String, Double>> now() {
    return nodes
        .apply(new JsonObject())
        .map(
            answers -> {
              Map<String, Double> sums = new HashMap<>();
              answers
                  .answers()
                  .forEach(
                      rates ->
                          rates.forEach(
                              rate ->
                                  sums.merge(
                                      rate.getKey(), rates.getDouble(rate.getKey()), Double::sum)));
              return sums;
            });
  }

  /** What a node answers whose rates are {@code rates}. */
  static Function<JsonObject, JsonObject> tell(Supplier<Map<String, Double>> rates) {
    return question -> {
      JsonObject answer = new JsonObject();
      rates.get().forEach(answer::put);
      return answer;
    };
  }
}
