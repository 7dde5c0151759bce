package dev.weir.bench;

import static dev.weir.bench.Microbenchmarks.NANOS;
import static dev.weir.bench.Microbenchmarks.side;

import io.vertx.core.json.JsonObject;

/** How the time of a decision in this process grows with the number of keys and threads. */
final class Scale implements Section {

  private static final String FLOOR = side(Contenders.FLOOR);
  private static final String WEIR = side(Contenders.WEIR_LEASED);

  @Override
  public String name() {
    return "scale";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    JsonObject all = new JsonObject();
    for (int keys : effort.keyCounts()) {
      JsonObject ofKeys = new JsonObject();
      new Microbenchmarks(effort)
          .run("oneThread|twoThreads", keys, Contenders.FLOOR, Contenders.WEIR_LEASED)
          .forEach((benchmark, table) -> ofKeys.put(benchmark, figures(table)));
      all.put(Integer.toString(keys), ofKeys);
    }
    results.put(name(), all);
  }

  private static JsonObject figures(Table table) {
    return new JsonObject()
        .put("ns", table.median(WEIR, NANOS))
        .put("floor_ns", table.median(FLOOR, NANOS))
        .put("vs_floor", table.ratio(WEIR, FLOOR, NANOS));
  }
}
