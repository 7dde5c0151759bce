package dev.weir.bench;

import static dev.weir.bench.Microbenchmarks.BYTES;
import static dev.weir.bench.Microbenchmarks.NANOS;
import static dev.weir.bench.Microbenchmarks.side;

import io.vertx.core.json.JsonObject;

/** Decisions in this process, beside those of other limiters and beside the least there can be. */
final class InProcessRun implements Section {

  private static final String FLOOR = side(Contenders.FLOOR);
  private static final String WEIR = side(Contenders.WEIR_LEASED);

  @Override
  public String name() {
    return "in_process";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Microbenchmarks benchmarks = new Microbenchmarks(effort);
    JsonObject all = new JsonObject();
    results.put(name(), all);
    add(benchmarks, "oneThread", effort, all, Contenders.values());
    for (String busy : new String[] {"twoThreads", "hotKey"}) {
      add(
          benchmarks,
          busy,
          effort,
          all,
          Contenders.FLOOR,
          Contenders.WEIR_LEASED,
          Contenders.GUAVA,
          Contenders.BUCKET4J,
          Contenders.RESILIENCE4J,
          Contenders.SENTINEL);
    }
    add(benchmarks, "receivedText", effort, all, Contenders.FLOOR, Contenders.WEIR_LEASED);
    results.put(
        "in_process_vs_floor",
        all.getJsonObject("oneThread").getJsonObject(WEIR).getDouble("vs_floor"));
  }

  private static void add(
      Microbenchmarks benchmarks,
      String benchmark,
      Effort effort,
      JsonObject all,
      Contenders... contenders) {
    benchmarks
        .run(benchmark, effort.keys(), contenders)
        .forEach((name, table) -> all.put(name, figures(table, contenders)));
  }

  private static JsonObject figures(Table table, Contenders... contenders) {
    JsonObject all = new JsonObject();
    for (Contenders contender : contenders) {
      String side = side(contender);
      all.put(
          side,
          new JsonObject()
              .put(NANOS, table.median(side, NANOS))
              .put("vs_floor", table.ratio(side, FLOOR, NANOS))
              .put("vs_weir", table.ratio(side, WEIR, NANOS))
              .put(BYTES, table.median(side, BYTES)));
    }
    return all;
  }
}
