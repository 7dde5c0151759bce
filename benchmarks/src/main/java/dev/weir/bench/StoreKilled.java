package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * How long checks over HTTP take when their node's Redis is killed under them, which no caller may
 * be told of by an error. At one steady rate.
 */
final class StoreKilled implements Section {

  private static final double PER_SECOND = 2_000;
  private static final int CONNECTIONS = 16;
  private static final int MOST_KEYS = 1_000;

  /** It is killed when this part of a turn is over, so that most of it is what follows. */
  private static final int LIVING_PART = 10;

  private static final String THERE = "there";
  private static final String KILLED = "killed";

  @Override
  public String name() {
    return "store_killed";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    int adminPort = ServerProcess.freePort();
    try (MeasuredRedis redis = MeasuredRedis.start();
        ServerProcess node =
            ServerProcess.node(
                BenchPlan.LEASED.yaml(),
                Map.of("store.url", redis.url(), "admin.port", Integer.toString(adminPort)));
        VertxHttpLoad client = new VertxHttpLoad()) {
      NodeHealth health = new NodeHealth(client, adminPort);
      Ask ask = ask(Math.min(MOST_KEYS, effort.keys()));
      Table table =
          new Turns()
              .add(
                  THERE,
                  () ->
                      AddedLatency.figures(
                          client.run(node.port(), ask, effort.length(), PER_SECOND)))
              .add(KILLED, () -> killed(client, node.port(), ask, effort.length(), redis, health))
              .take(effort);
      results.put(
          name(),
          new JsonObject()
              .put("per_second", PER_SECOND)
              .put(THERE, AddedLatency.medians(table, THERE))
              .put(KILLED, AddedLatency.medians(table, KILLED)));
    }
  }

  private static Ask ask(int count) {
    Keys keys = new Keys(count);
    List<String> bodies =
        IntStream.range(0, count).mapToObj(key -> "{\"key\":\"" + keys.kept(key) + "\"}").toList();
    return new Ask("/v1/check", bodies, CONNECTIONS, 1);
  }

  private static Map<String, Double> killed(
      VertxHttpLoad client,
      int port,
      Ask ask,
      Duration length,
      MeasuredRedis redis,
      NodeHealth health) {
    CompletableFuture<Void> begun = new CompletableFuture<>();
    CompletableFuture<Void> gone =
        begun.thenRunAsync(
            redis::kill,
            CompletableFuture.delayedExecutor(
                length.toMillis() / LIVING_PART, TimeUnit.MILLISECONDS));
    Load load = client.run(port, ask, length, PER_SECOND, () -> begun.complete(null));
    gone.join();
    redis.restart();
    health.awaitStore();
    return AddedLatency.figures(load);
  }
}
