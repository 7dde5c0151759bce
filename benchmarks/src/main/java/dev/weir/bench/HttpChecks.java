package dev.weir.bench;

import static dev.weir.bench.ComparedServers.BARE;
import static dev.weir.bench.ComparedServers.CPU;
import static dev.weir.bench.ComparedServers.NODE;
import static dev.weir.bench.ComparedServers.PER_SECOND;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Checks over HTTP of a key that the node holds permits of, beside a server of Vert.x and an nginx
 * with {@code limit_req} that give the same answer: how many, and how long one takes.
 */
final class HttpChecks implements Section {

  private static final Ask ONE_CHECK = new Ask("/v1/check?key=acme", List.of(), 64, 1);
  private static final String NGINX = "nginx";

  @Override
  public String name() {
    return "http";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    try (ComparedServers servers = new ComparedServers(ONE_CHECK)) {
      results.put("latency", AddedLatency.of(servers, effort));
      Programs.find(NGINX)
          .ifPresent(program -> servers.add(NGINX, LimitingNginx.start(program, servers.answer())));
      throughput(servers, effort, results);
    }
  }

  private void throughput(ComparedServers servers, Effort effort, JsonObject results) {
    try (HttpLoad client = HttpLoad.best()) {
      Table table = servers.compare(client, effort);
      JsonObject http =
          new JsonObject()
              .put("client", client.name())
              .put("checks_per_second", table.median(NODE, PER_SECOND))
              .put("bare_per_second", table.median(BARE, PER_SECOND))
              .put("cpu_us_per_check", table.median(NODE, CPU))
              .put("cpu_us_per_bare", table.median(BARE, CPU))
              .put("cpu_vs_bare", table.ratio(NODE, BARE, CPU));
      if (table.has(NGINX, PER_SECOND)) {
        http.put("nginx_per_second", table.median(NGINX, PER_SECOND))
            .put("cpu_us_per_nginx", table.median(NGINX, CPU))
            .put("vs_nginx", table.ratio(NODE, NGINX, PER_SECOND));
      }
      results.put("http_vs_bare", table.ratio(NODE, BARE, PER_SECOND)).put(name(), http);
    }
  }
}
