package dev.weir.examples;

import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import dev.weir.node.Settings;
import dev.weir.node.Weir;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A verticle that limits its own work: it asks before every piece of it, and when it is denied it
 * waits for as long as the decision says, no longer and without asking in between.
 *
 * <p>It shares its Vert.x with a node, so asking is a call and not a message; and it shares its
 * limit with every other worker of the same key, wherever they run.
 */
public final class LimitedWorker extends VerticleBase {

  private static final long AFTER_FAILURE_MILLIS = 1_000;

  private final String key;
  private final Runnable work;
  private RateLimiter limiter;

  /**
   * @param key whose limit the work is held to
   * @param work one piece of it, brief: it runs on the event loop
   */
  public LimitedWorker(String key, Runnable work) {
    this.key = key;
    this.work = work;
  }

  @Override
  public Future<?> start() {
    limiter = RateLimiter.create(vertx);
    askForNext();
    return Future.succeededFuture();
  }

  private void askForNext() {
    limiter.check(key).onComplete(this::decided, failure -> askLater(AFTER_FAILURE_MILLIS));
  }

  private void decided(Decision decision) {
    if (decision.allowed()) {
      work.run();
      // By way of the loop, so that others have their turn and the stack does not grow.
      context.runOnContext(next -> askForNext());
    } else {
      askLater(decision.retryAfterMillis());
    }
  }

  private void askLater(long millis) {
    vertx.setTimer(Math.max(1, millis), next -> askForNext());
  }

  /**
   * Runs a node on free ports with the built-in plans and a worker beside it: a hundred lines at
   * once, then one every 600 ms. After {@code mvn package}:
   *
   * <pre>
   * java -cp examples/target/weir-examples-0.1.0-SNAPSHOT.jar:node/target/weir.jar \
   *     dev.weir.examples.LimitedWorker
   * </pre>
   */
  public static void main(String[] args) {
    Vertx vertx = Vertx.vertx();
    Settings settings = Settings.of(Map.of("http.port", "0", "admin.port", "0"));
    AtomicInteger done = new AtomicInteger();
    LimitedWorker worker =
        new LimitedWorker("worker", () -> System.out.println("done " + done.incrementAndGet()));
    Weir.deploy(vertx, settings)
        .compose(node -> vertx.deployVerticle(worker))
        .onFailure(
            failure -> {
              System.err.println(failure.getMessage());
              vertx.close();
            });
  }
}
