package dev.weir.bench;

import static dev.weir.bench.ComparedServers.BARE;
import static dev.weir.bench.ComparedServers.NODE;
import static dev.weir.bench.ComparedServers.PER_SECOND;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a check over HTTP takes longer than the same answer of a bare server, both asked half as
 * often as the slower of them can answer.
 */
final class AddedLatency {

  private static final Map<String, ToDoubleFunction<Load>> FIGURES = new LinkedHashMap<>();

  static {
    FIGURES.put("p50_ms", load -> load.millis(50));
    FIGURES.put("p99_ms", load -> load.millis(99));
    FIGURES.put("p99_9_ms", load -> load.millis(99.9));
  }

  private AddedLatency() {}

  static JsonObject of(ComparedServers servers, Effort effort) {
    try (VertxHttpLoad client = new VertxHttpLoad()) {
      Table fastest = servers.compare(client, effort);
      double slower = Math.min(fastest.median(NODE, PER_SECOND), fastest.median(BARE, PER_SECOND));
      Table table = servers.compare(client, effort, slower / 2, AddedLatency::figures);
      return new JsonObject()
          .put("per_second", slower / 2)
          .put("check", medians(table, NODE))
          .put("bare", medians(table, BARE))
          .put("added", each(figure -> table.difference(NODE, BARE, figure)));
    }
  }

  /** The figures of a turn: how long answers took, milliseconds. */
  static Map<String, Double> figures(Load load) {
    Map<String, Double> turn = new LinkedHashMap<>();
    FIGURES.forEach((figure, of) -> turn.put(figure, of.applyAsDouble(load)));
    return turn;
  }

  /** Their medians. */
  static JsonObject medians(Table table, String side) {
    return each(figure -> table.median(side, figure));
  }

  private static JsonObject each(ToDoubleFunction<String> value) {
    JsonObject all = new JsonObject();
    FIGURES.keySet().forEach(figure -> all.put(figure, value.applyAsDouble(figure)));
    return all;
  }
}
