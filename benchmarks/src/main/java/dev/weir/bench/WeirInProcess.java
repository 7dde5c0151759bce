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

/**
 * The limiter of a node, called as an application calls it that runs the node's verticles in its
 * own Vert.x. What is spent is counted in a journal on disk and reported from there, and leases end
 * and begin, as in any node.
 */
final class WeirInProcess implements Contender {

  private static final Duration WINDOW = Duration.ofSeconds(60);
  private static final double TOLERANCE = 0.01;
  private static final long JOURNAL_BYTES = 4L << 30;
  private static final long BODY_BYTES = 1L << 20;
  private static final StoreUrl EMBEDDED = new StoreUrl.Embedded();
  private static final String PREFIX = "weir";

  private final Vertx vertx;
  private final TemporaryDirectory directory;
  private final RateLimiter limiter;

  private WeirInProcess(Vertx vertx, TemporaryDirectory directory, RateLimiter limiter) {
    this.vertx = vertx;
    this.directory = directory;
    this.limiter = limiter;
  }

  /** One that holds {@code keys} keys, with the store of a single node. */
  static WeirInProcess embedded(int keys) {
    Vertx vertx = Vertx.vertx();
    Store store =
        Stores.open(
            EMBEDDED,
            PREFIX,
            WINDOW,
            Duration.ofMillis(5),
            room(keys),
            vertx,
            Clock.system(),
            new SimpleMeterRegistry());
    return open(keys, store, Clock.system(), vertx);
  }

  /** One that holds {@code keys} keys, in front of {@code store}. */
  static WeirInProcess open(int keys, Store store, Clock clock) {
    return open(keys, store, clock, Vertx.vertx());
  }

  private static WeirInProcess open(int keys, Store store, Clock clock, Vertx vertx) {
    TemporaryDirectory directory = TemporaryDirectory.make();
    StoreClock storeClock = new StoreClock(clock);
    MeterRegistry registry = new SimpleMeterRegistry();
    UsageJournal journal = journal(directory.path(), clock);
    UsageStore usage = Stores.openUsage(EMBEDDED, PREFIX, room(keys), vertx, clock, registry);
    Await.done(
        vertx.deployVerticle(
            new UsageVerticle(journal, usage, () -> "bench", clock, storeClock, registry),
            new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER)));
    LeaseVerticle lease =
        new LeaseVerticle(store, clock, storeClock, Duration.ofMillis(5), registry);
    Await.done(vertx.deployVerticle(lease));
    Decider decider =
        new Decider(
            clock,
            lease.refills(),
            LeaseCeiling.of(TOLERANCE, WINDOW),
            room(keys).keys(),
            configuration(),
            storeClock,
            journal);
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
    return new WeirInProcess(vertx, directory, limiter);
  }

  private static KeyRoom room(int keys) {
    return new KeyRoom(keys, keys, 1);
  }

  private static UsageJournal journal(Path directory, Clock clock) {
    return UsageJournal.open(directory, AccountingWindow.of(WINDOW), JOURNAL_BYTES, clock);
  }

  private static ConfigSnapshot configuration() {
    Limit limit =
        new Limit(
            Limit.DEFAULT_NAME,
            Set.of(),
            new TokenBucket(Contenders.LIMIT, Duration.ofSeconds(1), Contenders.LIMIT));
    Plan plan = new Plan("bench", List.of(limit));
    return new ConfigSnapshot(
        1,
        Optional.of(plan.name()),
        Map.of(plan.name(), plan),
        Map.of(),
        Gateway.DEFAULT,
        Map.of());
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
