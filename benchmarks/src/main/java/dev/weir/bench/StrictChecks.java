package dev.weir.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.function.Function;

/** Decisions that ask Redis each time, beside those of Bucket4j on Redis, as many at once. */
final class StrictChecks implements Section {

  private static final int UNDER_WAY = 64;
  private static final int MOST_KEYS = 10_000;
  private static final String WEIR = "weir";
  private static final String BUCKET4J = "bucket4j";
  private static final String PER_SECOND = "per_second";
  private static final String P50 = "p50_ms";
  private static final String P99 = "p99_ms";

  @Override
  public String name() {
    return "strict";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Keys keys = new Keys(Math.min(effort.keys(), MOST_KEYS));
    try (MeasuredRedis redis = MeasuredRedis.start();
        DeployedNode node = DeployedNode.open(BenchPlan.STRICT, redis.patientSettings());
        Bucket4jOnRedis bucket4j = new Bucket4jOnRedis(redis.url())) {
      Table table =
          new Turns()
              .add(WEIR, () -> ask(node.vertx(), keys, effort, node::check))
              .add(BUCKET4J, () -> ask(node.vertx(), keys, effort, bucket4j::check))
              .take(effort);
      results.put(
          name(),
          new JsonObject()
              .put(WEIR, figures(table, WEIR))
              .put(BUCKET4J, figures(table, BUCKET4J))
              .put("vs_bucket4j", table.ratio(WEIR, BUCKET4J, PER_SECOND)));
    }
  }

  private static Map<String, Double> ask(
      Vertx vertx, Keys keys, Effort effort, Function<String, Future<?>> check) {
    int[] next = {0};
    Load load =
        ClosedLoop.run(
            vertx,
            UNDER_WAY,
            effort.length(),
            () -> {
              next[0] = (next[0] + 1) % keys.count();
              return check.apply(keys.kept(next[0]));
            });
    return Map.of(PER_SECOND, load.perSecond(), P50, load.millis(50), P99, load.millis(99));
  }

  private static JsonObject figures(Table table, String side) {
    return new JsonObject()
        .put(PER_SECOND, table.median(side, PER_SECOND))
        .put(P50, table.median(side, P50))
        .put(P99, table.median(side, P99));
  }
}
