package dev.weir.bench;

import static dev.weir.bench.Microbenchmarks.BYTES;
import static dev.weir.bench.Microbenchmarks.NANOS;
import static dev.weir.bench.Microbenchmarks.side;

import io.vertx.core.json.JsonObject;
import java.util.Map;

/** Decisions in this process, beside those of other limiters and beside the least there can be. */
final class InProcessRun implements Section {

  @Override
  public String name() {
    return "in_process";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Map<String, Table> tables =
        new Microbenchmarks(effort).run(".*", effort.keys(), Contenders.values());
    JsonObject all = new JsonObject();
    tables.forEach((benchmark, table) -> all.put(benchmark, figures(table)));
    results
        .put(
            "in_process_vs_floor",
            tables
                .get("oneThread")
                .ratio(side(Contenders.WEIR_LEASED), side(Contenders.FLOOR), NANOS))
        .put(name(), all);
  }

  private static JsonObject figures(Table table) {
    JsonObject all = new JsonObject();
    for (Contenders contender : Contenders.values()) {
      String side = side(contender);
      all.put(
          side,
          new JsonObject()
              .put(NANOS, table.median(side, NANOS))
              .put("vs_floor", table.ratio(side, side(Contenders.FLOOR), NANOS))
              .put(BYTES, table.median(side, BYTES)));
    }
    return all;
  }
}
