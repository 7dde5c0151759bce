package dev.weir.bench;

import dev.weir.client.RateLimiter;
import dev.weir.config.Clock;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Gateway;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.TokenBucket;
import dev.weir.decision.Decider;
import dev.weir.decision.DecisionVerticle;
import dev.weir.decision.LocalLimiter;
import dev.weir.lease.AccountingWindow;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.LeaseVerticle;
import dev.weir.lease.Refills;
import dev.weir.lease.Store;
import dev.weir.lease.StoreClock;
import dev.weir.lease.StoreUrl;
import dev.weir.lease.Stores;
import dev.weir.lease.UsageJournal;
import dev.weir.lease.UsageStore;
import dev.weir.lease.UsageVerticle;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * The limiter of a node, without the node's control plane, so that its store, its clock and the
 * number of nodes can be others. What is spent is counted in a journal on disk and reported from
 * there, and leases end and begin, as in any node.
 *
 * @param limiter as an application calls it that runs the node's verticles in its own Vert.x
 * @param refills that the store was asked for
 */
record InProcessNode(RateLimiter limiter, LongAdder refills) {

  /** Over which usage is counted, and leases are within their tolerance. */
  static final Duration WINDOW = Duration.ofSeconds(60);

  private static final double TOLERANCE = 0.01;
  private static final long JOURNAL_BYTES = 4L << 30;
  private static final long BODY_BYTES = 1L << 20;
  private static final StoreUrl EMBEDDED = new StoreUrl.Embedded();
  private static final String PREFIX = "weir";

  /**
   * What the node is to limit.
   *
   * @param limit of each key
   * @param ceiling of its leases
   * @param nodes of the fleet that it takes itself to be one of
   */
  record Task(Limit limit, LeaseCeiling ceiling, int nodes) {

    /** A limit that no benchmark reaches. */
    static final Task NO_DENIAL = of(bucket(Contenders.LIMIT, Duration.ofSeconds(1)), 1);

    /** With the ceiling that the usual tolerance allows to each of {@code nodes}. */
    static Task of(Limit limit, int nodes) {
      return new Task(limit, LeaseCeiling.of(TOLERANCE, WINDOW), nodes);
    }

    /** With leases of {@code most} permits at most. */
    static Task withLeases(Limit limit, long most) {
      long admitted = LeaseCeiling.of(1, WINDOW).of(limit, 1);
      // Half a permit more, which rounding takes away again.
      return new Task(limit, LeaseCeiling.of((most + 0.5) / admitted, WINDOW), 1);
    }
  }

  /** A bucket that holds as much as comes in a period. */
  static Limit bucket(long permits, Duration period) {
    return new Limit(Limit.DEFAULT_NAME, Set.of(), new TokenBucket(permits, period, permits));
  }

  /**
   * The store of a node that is alone.
   *
   * @param keys that it has room for
   */
  static Store embeddedStore(int keys, Vertx vertx) {
    return Stores.open(
        EMBEDDED,
        PREFIX,
        WINDOW,
        Duration.ofMillis(5),
        room(keys),
        vertx,
        Clock.system(),
        new SimpleMeterRegistry());
  }

  /**
   * Deploys one, which ends with {@code vertx}.
   *
   * @param directory for its journal
   * @param keys that it holds
   */
  static InProcessNode deploy(
      Vertx vertx, Path directory, int keys, Store store, Clock clock, Task task) {
    StoreClock storeClock = new StoreClock(clock);
    MeterRegistry registry = new SimpleMeterRegistry();
    UsageJournal journal =
        UsageJournal.open(directory, AccountingWindow.of(WINDOW), JOURNAL_BYTES, clock);
    UsageStore usage = Stores.openUsage(EMBEDDED, PREFIX, room(keys), vertx, clock, registry);
    Await.done(
        vertx.deployVerticle(
            new UsageVerticle(journal, usage, () -> "bench", clock, storeClock, registry),
            new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER)));
    LeaseVerticle lease =
        new LeaseVerticle(store, clock, storeClock, Duration.ofMillis(5), registry);
    Await.done(vertx.deployVerticle(lease));
    LongAdder refills = new LongAdder();
    Refills counted =
        (refill, wantedAt, listener) -> {
          refills.increment();
          lease.refills().submit(refill, wantedAt, listener);
        };
    Decider decider =
        new Decider(
            clock,
            counted,
            task.ceiling(),
            room(keys).keys(),
            configuration(task.limit()),
            storeClock,
            journal);
    decider.nodes(task.nodes());
    LocalLimiter limiter = new LocalLimiter(vertx, decider, room(keys).recent());
    Await.done(
        vertx.deployVerticle(
            new DecisionVerticle(
                limiter,
                storeClock,
                new DecisionVerticle.Endpoint(
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    List.of(),
                    Optional.empty(),
                    BODY_BYTES,
                    Duration.ofMinutes(1)),
                true)));
    return new InProcessNode(limiter, refills);
  }

  private static KeyRoom room(int keys) {
    return new KeyRoom(keys, keys, 1);
  }

  private static ConfigSnapshot configuration(Limit limit) {
    Plan plan = new Plan("bench", List.of(limit));
    return new ConfigSnapshot(
        1,
        Optional.of(plan.name()),
        Map.of(plan.name(), plan),
        Map.of(),
        Gateway.DEFAULT,
        Map.of());
  }
}
