package dev.weir.bench;

import static dev.weir.bench.ComparedServers.BARE;
import static dev.weir.bench.ComparedServers.CPU;
import static dev.weir.bench.ComparedServers.NODE;
import static dev.weir.bench.ComparedServers.PER_SECOND;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Batches of checks over HTTP, each of another key, beside a server that only reads and writes. */
final class BatchChecks implements Section {

  private static final int CHECKS = 100;
  private static final int BATCHES = 100;
  private static final int CONNECTIONS = 16;
  private static final int PIPELINED = 4;

  @Override
  public String name() {
    return "batch";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Keys keys = new Keys(Math.min(effort.keys(), CHECKS * BATCHES));
    Ask ask = new Ask("/v1/check/batch", bodies(keys), CONNECTIONS, PIPELINED);
    try (HttpLoad client = HttpLoad.best();
        ComparedServers servers = new ComparedServers(ask)) {
      Table table = servers.compare(client, effort);
      results
          .put("batch_decisions_per_second", CHECKS * table.median(NODE, PER_SECOND))
          .put(
              name(),
              new JsonObject()
                  .put("client", client.name())
                  .put("checks", CHECKS)
                  .put("cpu_us_per_decision", table.median(NODE, CPU) / CHECKS)
                  .put("bare_cpu_us_per_decision", table.median(BARE, CPU) / CHECKS)
                  .put("bare_decisions_per_second", CHECKS * table.median(BARE, PER_SECOND))
                  .put("vs_bare", table.ratio(NODE, BARE, PER_SECOND))
                  .put("cpu_vs_bare", table.ratio(NODE, BARE, CPU)));
    }
  }

  private static List<String> bodies(Keys keys) {
    List<String> bodies = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      int first = batch * CHECKS;
      bodies.add(
          IntStream.range(first, first + CHECKS)
              .mapToObj(number -> "{\"key\":\"" + keys.kept(number % keys.count()) + "\"}")
              .collect(Collectors.joining(",", "{\"checks\":[", "]}")));
    }
    return bodies;
  }
}
