package dev.weir.bench;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.LeaseVerticle;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.Refills;
import dev.weir.lease.Store;
import dev.weir.lease.StoreClock;
import dev.weir.lease.Stores;
import dev.weir.lease.Take;
import dev.weir.node.Settings;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Refills of many keys through one connection to Redis, beside one at a time. */
final class RefillRate implements Section {

  private static final int MOST_KEYS = 100_000;
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final String MANY = "many";
  private static final String SINGLE = "single";
  private static final String PER_SECOND = "per_second";
  private static final String PER_ROUND_TRIP = "per_round_trip";

  /** As many as four calls carry, and as many again that wait for them. */
  private static final int UNDER_WAY = 2 * 4 * 256;

  @Override
  public String name() {
    return "refills";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    try (MeasuredRedis redis = MeasuredRedis.start()) {
      // On one event loop, as nothing but the way to Redis is meant.
      Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
      try {
        measure(vertx, redis, effort, results);
      } finally {
        Await.done(vertx.close());
      }
    }
  }

  private void measure(Vertx vertx, MeasuredRedis redis, Effort effort, JsonObject results) {
    Asking asking = new Asking(vertx, refills(vertx, redis), keys(effort));
    Table table =
        new Turns()
            .add(MANY, () -> refill(vertx, redis, asking, UNDER_WAY, effort))
            .add(SINGLE, () -> refill(vertx, redis, asking, 1, effort))
            .take(effort);
    results
        .put("refills_per_second", table.median(MANY, PER_SECOND))
        .put(
            name(),
            new JsonObject()
                .put("per_round_trip", table.median(MANY, PER_ROUND_TRIP))
                .put("single_per_second", table.median(SINGLE, PER_SECOND))
                .put("single_per_round_trip", table.median(SINGLE, PER_ROUND_TRIP))
                .put("vs_single", table.ratio(MANY, SINGLE, PER_SECOND)));
  }

  private static Refills refills(Vertx vertx, MeasuredRedis redis) {
    Settings.StoreSettings settings = Settings.of(Map.of("store.url", redis.url())).store();
    Clock clock = Clock.system();
    MeterRegistry registry = new SimpleMeterRegistry();
    Store store =
        Stores.open(
            settings.url(),
            settings.prefix(),
            InProcessNode.WINDOW,
            PATIENCE,
            new KeyRoom(1, 1, 1),
            vertx,
            clock,
            registry);
    LeaseVerticle lease =
        new LeaseVerticle(store, clock, new StoreClock(clock), PATIENCE, registry);
    Await.done(vertx.deployVerticle(lease));
    return lease.refills();
  }

  private static List<Refill> keys(Effort effort) {
    Limit limit = InProcessNode.Task.NO_DENIAL.limit();
    List<Refill> refills = new ArrayList<>();
    Keys keys = new Keys(Math.min(effort.keys(), MOST_KEYS));
    for (int key = 0; key < keys.count(); key++) {
      refills.add(new Refill(keys.kept(key), List.of(new Take(limit, 0, 0, 1, 1))));
    }
    return refills;
  }

  private static Map<String, Double> refill(
      Vertx vertx, MeasuredRedis redis, Asking asking, int underWay, Effort effort) {
    MeasuredRedis.Done before = redis.done();
    Load load = ClosedLoop.run(vertx, underWay, effort.length(), asking::next);
    return Map.of(
        PER_SECOND,
        load.perSecond(),
        PER_ROUND_TRIP,
        load.answered() / redis.done().scriptCalls(before));
  }

  /** Asks for all keys in turn. */
  private static final class Asking {

    private final Vertx vertx;
    private final Refills refills;
    private final List<Refill> keys;
    private int next;

    Asking(Vertx vertx, Refills refills, List<Refill> keys) {
      this.vertx = vertx;
      this.refills = refills;
      this.keys = keys;
    }

    Future<RefillOutcome> next() {
      next = (next + 1) % keys.size();
      Promise<RefillOutcome> promise = ((VertxInternal) vertx).promise();
      refills.submit(
          keys.get(next),
          Clock.system().micros(),
          new Refills.Listener() {
            @Override
            public void onOutcome(RefillOutcome outcome) {
              if (outcome instanceof RefillOutcome.Answered) {
                promise.tryComplete(outcome);
              } else {
                promise.tryFail(outcome.toString());
              }
            }

            @Override
            public void onOverdue() {
              promise.tryFail("not answered within " + PATIENCE.toSeconds() + " s");
            }
          });
      return promise.future();
    }
  }
}
