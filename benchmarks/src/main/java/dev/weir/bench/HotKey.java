package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** One key that everybody asks about, as fast as a node answers: what comes of it at Redis. */
final class HotKey implements Section {

  private static final String KEY = "acme";
  private static final int UNDER_WAY = 256;
  private static final int MASTERS = 3;

  /** Of the limit of {@link BenchPlan}, what it admits in a minute: its capacity and 60 s of it. */
  private static final double ADMITTED = 61.0 * Contenders.LIMIT;

  private static final String CHECKS = "checks_per_second";
  private static final String CALLS = "store_calls_per_second";
  private static final String CPU = "redis_cpu_share";

  /**
   * A way to limit the key.
   *
   * @param plan of it
   * @param permits that a lease has at most, 1 or more
   * @param clustered whether its counters are in a cluster of {@value #MASTERS}
   */
  private record Way(BenchPlan plan, int permits, boolean clustered) {}

  private static final Map<String, Way> WAYS = new LinkedHashMap<>();

  static {
    WAYS.put("leases_of_100", new Way(BenchPlan.LEASED, 100, false));
    WAYS.put("leases_of_10000", new Way(BenchPlan.LEASED, 10_000, false));
    WAYS.put("strict", new Way(BenchPlan.STRICT, 1, false));
    WAYS.put("cluster_leases_of_100", new Way(BenchPlan.LEASED, 100, true));
    WAYS.put("cluster_leases_of_100_in_shards", new Way(BenchPlan.LEASED_IN_SHARDS, 100, true));
    WAYS.put("cluster_strict", new Way(BenchPlan.STRICT, 1, true));
    WAYS.put("cluster_strict_in_shards", new Way(BenchPlan.STRICT_IN_SHARDS, 1, true));
  }

  @Override
  public String name() {
    return "hot_key";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Map<String, DeployedNode> nodes = new LinkedHashMap<>();
    try (MeasuredRedis one = MeasuredRedis.start();
        MeasuredRedis cluster = MeasuredRedis.startCluster(MASTERS)) {
      Turns turns = new Turns();
      try {
        WAYS.forEach(
            (name, way) -> {
              MeasuredRedis redis = way.clustered() ? cluster : one;
              DeployedNode node = DeployedNode.open(way.plan(), settings(redis, name, way));
              nodes.put(name, node);
              turns.add(name, () -> ask(node, redis, effort));
            });
        Table table = turns.take(effort);
        JsonObject all = new JsonObject();
        WAYS.keySet()
            .forEach(
                name ->
                    all.put(
                        name,
                        new JsonObject()
                            .put(CHECKS, table.median(name, CHECKS))
                            .put(CALLS, table.median(name, CALLS))
                            .put(CPU, table.median(name, CPU))));
        results.put(name(), all);
      } finally {
        nodes.values().parallelStream().forEach(DeployedNode::close);
      }
    }
  }

  /** Each under names of its own in Redis. */
  private static Map<String, String> settings(MeasuredRedis redis, String name, Way way) {
    Map<String, String> settings = new HashMap<>(redis.patientSettings());
    settings.put("store.prefix", name);
    // Half a permit more, which rounding takes away again.
    settings.put("tolerance", BigDecimal.valueOf((way.permits() + 0.5) / ADMITTED).toPlainString());
    return settings;
  }

  private static Map<String, Double> ask(DeployedNode node, MeasuredRedis redis, Effort effort) {
    MeasuredRedis.Done before = redis.done();
    Load load = ClosedLoop.run(node.vertx(), UNDER_WAY, effort.length(), () -> node.check(KEY));
    MeasuredRedis.Done after = redis.done();
    return Map.of(
        CHECKS,
        load.perSecond(),
        CALLS,
        after.scriptCallsPerSecond(before),
        CPU,
        after.cpuShare(before));
  }
}
