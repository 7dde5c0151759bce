package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How long a node takes from the start of its process until it says that it is ready: alone, and to
 * join another.
 */
final class Start implements Section {

  private static final String EMBEDDED = "embedded";
  private static final String JOINED = "joined";
  private static final String MILLIS = "ms";

  @Override
  public String name() {
    return "start";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    int firstPort = ServerProcess.freePort();
    try (MeasuredRedis redis = MeasuredRedis.start();
        VertxHttpLoad client = new VertxHttpLoad()) {
      ServerProcess first = ServerProcess.node(plans(), inCluster(redis, firstPort, firstPort));
      Table table;
      try {
        table =
            new Turns()
                .add(EMBEDDED, () -> start(Map.of(), node -> {}))
                .add(
                    JOINED,
                    () -> join(client, inCluster(redis, ServerProcess.freePort(), firstPort)))
                .take(effort);
      } finally {
        first.close();
      }
      results.put(
          name(),
          new JsonObject()
              .put("embedded_ms", table.median(EMBEDDED, MILLIS))
              .put("joined_ms", table.median(JOINED, MILLIS)));
    }
  }

  private static String plans() {
    return BenchPlan.LEASED.yaml();
  }

  private static Map<String, String> inCluster(MeasuredRedis redis, int port, int firstPort) {
    return Map.of(
        "store.url",
        redis.url(),
        "cluster.enabled",
        "on",
        "cluster.host",
        "127.0.0.1",
        "cluster.port",
        Integer.toString(port),
        "cluster.members",
        "127.0.0.1:" + firstPort);
  }

  private static Map<String, Double> join(VertxHttpLoad client, Map<String, String> settings) {
    int adminPort = ServerProcess.freePort();
    Map<String, String> all = new TreeMap<>(settings);
    all.put("admin.port", Integer.toString(adminPort));
    return start(
        all,
        node -> {
          int nodes = new NodeHealth(client, adminPort).nodes();
          if (nodes != 2) {
            throw new IllegalStateException("it has not joined: " + nodes + " nodes");
          }
        });
  }

  private static Map<String, Double> start(
      Map<String, String> settings, Consumer<ServerProcess> started) {
    long begin = System.nanoTime();
    try (ServerProcess node = ServerProcess.node(plans(), settings)) {
      double millis = (System.nanoTime() - begin) / (double) TimeUnit.MILLISECONDS.toNanos(1);
      started.accept(node);
      return Map.of(MILLIS, millis);
    }
  }
}
