package dev.weir.bench;

import dev.weir.client.CheckAddresses;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/**
 * Checks over the event bus of the node's own Vert.x, beside a consumer that replies the same
 * decision to all.
 */
final class EventBusChecks implements Section {

  private static final String FIXED = "weir.bench.fixed";
  private static final String PER_SECOND = "per_second";
  private static final String KEY = "acme";
  private static final int UNDER_WAY = 64;

  @Override
  public String name() {
    return "event_bus";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    try (DeployedNode node = DeployedNode.open(BenchPlan.LEASED, Map.of())) {
      Vertx vertx = node.vertx();
      Decision decision = Await.done(node.check(KEY));
      Await.done(
          vertx.deployVerticle(
              () -> new FixedReply(decision),
              new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors())));
      Table table =
          new Turns()
              .add(CheckAddresses.LOCAL, () -> ask(vertx, CheckAddresses.LOCAL, effort))
              .add(FIXED, () -> ask(vertx, FIXED, effort))
              .take(effort);
      results
          .put("event_bus_checks_per_second", table.median(CheckAddresses.LOCAL, PER_SECOND))
          .put(
              name(),
              new JsonObject()
                  .put("bare_per_second", table.median(FIXED, PER_SECOND))
                  .put("vs_bare", table.ratio(CheckAddresses.LOCAL, FIXED, PER_SECOND)));
    }
  }

  private static Map<String, Double> ask(Vertx vertx, String address, Effort effort) {
    CheckRequest request = CheckRequest.of(KEY);
    Load load =
        ClosedLoop.run(
            vertx,
            UNDER_WAY,
            effort.length(),
            () -> vertx.eventBus().<Decision>request(address, request));
    return Map.of(PER_SECOND, load.perSecond());
  }

  private static final class FixedReply extends VerticleBase {

    private final Decision decision;

    FixedReply(Decision decision) {
      this.decision = decision;
    }

    @Override
    public Future<?> start() {
      return vertx
          .eventBus()
          .<CheckRequest>localConsumer(FIXED, message -> message.reply(decision))
          .completion();
    }
  }
}
