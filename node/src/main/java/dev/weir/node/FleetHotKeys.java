package dev.weir.node;

import dev.weir.decision.HotKeyCounts;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;

/** The busiest and the most denied keys of all nodes together. */
final class FleetHotKeys {

  /** What nodes are asked for. */
  static final String CALL = "hot-keys";

  private static final String MOST = "most";
  private static final String TAKEN = "taken";
  private static final String DENIED = "denied";

  /** A key that is hot in the fleet may stand further down on each node. */
  private static final int MARGIN = 200;

  private final Function<JsonObject, Future<NodeBus.Answers>> nodes;

  /**
   * @param nodes asks all of them to {@link #count}
   */
  FleetHotKeys(Function<JsonObject, Future<NodeBus.Answers>> nodes) {
    this.nodes = nodes;
  }

  /** The {@code most} keys of either kind, and the nodes that did not tell theirs. */
  Future<JsonObject> top(int most) {
    return nodes
        .apply(new JsonObject().put(MOST, most + MARGIN))
        .map(
            answers ->
                new JsonObject()
                    .put("busiest", top(answers.answers(), TAKEN, "units", most))
                    .put("denied", top(answers.answers(), DENIED, "decisions", most))
                    .put("silent", new JsonArray(answers.silent())));
  }

  private static JsonArray top(List<JsonObject> answers, String kind, String unit, int most) {
    Map<String, Long> sums = new HashMap<>();
    for (JsonObject answer : answers) {
      JsonObject counts = answer.getJsonObject(kind);
      counts.forEach(each -> sums.merge(each.getKey(), counts.getLong(each.getKey()), Long::sum));
    }
    JsonArray top = new JsonArray();
    sums.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(most)
        .forEach(
            each -> top.add(new JsonObject().put("key", each.getKey()).put(unit, each.getValue())));
    return top;
  }

  /** What a node answers that is asked; {@code counts} gives so many of its keys. */
  static Function<JsonObject, JsonObject> count(IntFunction<HotKeyCounts> counts) {
    return question -> {
      HotKeyCounts mine = counts.apply(question.getInteger(MOST));
      return new JsonObject()
          .put(TAKEN, new JsonObject(Map.copyOf(mine.taken())))
          .put(DENIED, new JsonObject(Map.copyOf(mine.denied())));
    };
  }
}
