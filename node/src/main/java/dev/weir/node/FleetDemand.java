package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** What all nodes of a region are asked for together. */
final class FleetDemand {

  /** What nodes are asked for. */
  static final String CALL = "demand";

  private static final String RATES = "rates";

  private final Function<JsonObject, Future<NodeBus.Answers>> nodes;

  /**
   * The sums over the nodes.
   *
   * @param rates permits a second by plan
   * @param whole whether every node has told its own; else there is more demand than this
   */
  record Sums(Map<String, Double> rates, boolean whole) {

    Sums {
      rates = Map.copyOf(rates);
    }
  }

  /**
   * @param nodes asks all of them to {@link #tell}
   */
  FleetDemand(Function<JsonObject, Future<NodeBus.Answers>> nodes) {
    this.nodes = nodes;
  }

  /** As of now. */
  Future<Sums> now() {
    return nodes.apply(new JsonObject()).map(FleetDemand::sums);
  }

  private static Sums sums(NodeBus.Answers answers) {
    Map<String, Double> sums = new HashMap<>();
    boolean whole = answers.silent().isEmpty();
    for (JsonObject answer : answers.answers()) {
      JsonObject rates = answer.getJsonObject(RATES);
      if (rates == null) {
        whole = false;
      } else {
        rates.forEach(
            rate -> sums.merge(rate.getKey(), rates.getDouble(rate.getKey()), Double::sum));
      }
    }
    return new Sums(sums, whole);
  }

  /** What a node answers whose rates are {@code rates}, which it may not know yet. */
  static Function<JsonObject, JsonObject> tell(Supplier<Optional<Map<String, Double>>> rates) {
    return question -> {
      JsonObject answer = new JsonObject();
      rates
          .get()
          .ifPresent(
              known -> {
                JsonObject told = new JsonObject();
                known.forEach(told::put);
                answer.put(RATES, told);
              });
      return answer;
    };
  }
}
