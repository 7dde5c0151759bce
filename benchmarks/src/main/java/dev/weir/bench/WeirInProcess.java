package dev.weir.bench;

import dev.weir.client.RateLimiter;
import dev.weir.config.Clock;
import dev.weir.lease.Store;
import io.vertx.core.Vertx;
import java.util.function.Function;

/** A node that limits nobody, called as an application calls it. */
final class WeirInProcess implements Contender {

  private final Vertx vertx = Vertx.vertx();
  private final TemporaryDirectory directory = TemporaryDirectory.make();
  private final RateLimiter limiter;

  private WeirInProcess(int keys, Function<Vertx, Store> store, Clock clock) {
    limiter =
        InProcessNode.deploy(
                vertx,
                directory.path(),
                keys,
                store.apply(vertx),
                clock,
                InProcessNode.Task.NO_DENIAL)
            .limiter();
  }

  /** One that holds {@code keys} keys, with the store of a single node. */
  static WeirInProcess embedded(int keys) {
    return new WeirInProcess(
        keys, vertx -> InProcessNode.embeddedStore(keys, vertx), Clock.system());
  }

  /** One that holds {@code keys} keys, in front of {@code store}. */
  static WeirInProcess open(int keys, Store store, Clock clock) {
    return new WeirInProcess(keys, vertx -> store, clock);
  }

  @Override
  public Object decide(String key) {
    return limiter.check(key).result();
  }

  @Override
  public void close() {
    Await.done(vertx.close());
    directory.close();
  }
}
