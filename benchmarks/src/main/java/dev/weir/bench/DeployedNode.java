package dev.weir.bench;

import dev.weir.client.Decision;
import dev.weir.node.Settings;
import dev.weir.node.Weir;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.HashMap;
import java.util.Map;

/** A whole node in this process, as an application deploys it in its own Vert.x. */
final class DeployedNode implements Contender {

  private final Vertx vertx;
  private final TemporaryDirectory directory;
  private final Weir weir;

  private DeployedNode(Vertx vertx, TemporaryDirectory directory, Weir weir) {
    this.vertx = vertx;
    this.directory = directory;
    this.weir = weir;
  }

  /**
   * One that answers.
   *
   * @param settings beside those that keep it to this machine, by their paths
   */
  static DeployedNode open(BenchPlan plan, Map<String, String> settings) {
    TemporaryDirectory directory = TemporaryDirectory.make();
    Map<String, String> all = new HashMap<>();
    all.put("http.host", "127.0.0.1");
    all.put("http.port", "0");
    all.put("admin.port", "0");
    all.put("plans", directory.write("plans.yaml", plan.yaml()).toString());
    all.put("data_dir", directory.path().resolve("data").toString());
    all.putAll(settings);
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions().setEventLoopPoolSize(Runtime.getRuntime().availableProcessors()));
    Weir weir = Await.done(Weir.deploy(vertx, Settings.of(all)));
    return new DeployedNode(vertx, directory, weir);
  }

  Vertx vertx() {
    return vertx;
  }

  @Override
  public Object decide(String key) {
    return weir.limiter().check(key).result();
  }

  /** The decision, which fails unless it is what is meant to be measured: allowed, by the store. */
  Future<Decision> check(String key) {
    return weir.limiter()
        .check(key)
        .compose(
            decision ->
                decision.allowed() && !decision.degraded()
                    ? Future.succeededFuture(decision)
                    : Future.failedFuture("not allowed by the store: " + decision));
  }

  @Override
  public void close() {
    Await.done(weir.stop().eventually(vertx::close));
    directory.close();
  }
}
