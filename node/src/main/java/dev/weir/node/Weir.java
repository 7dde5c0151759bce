package dev.weir.node;

import com.hazelcast.core.HazelcastInstance;
import dev.weir.client.CheckRequest;
import dev.weir.client.RateLimiter;
import dev.weir.config.Clock;
import dev.weir.config.ConfigRefusedException;
import dev.weir.config.ConfigVerticle;
import dev.weir.config.Configuration;
import dev.weir.config.Membership;
import dev.weir.config.NodeStatus;
import dev.weir.config.PlansFile;
import dev.weir.config.RegionWeights;
import dev.weir.config.Seed;
import dev.weir.decision.Decider;
import dev.weir.decision.DecisionMeters;
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
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node: the three verticles and the control plane, deployed in somebody's Vert.x. The limiter as
 * a library.
 *
 * <p>Safe to use from any thread once deployed. The fields are set by the steps of the deployment,
 * one after another, and only read from then on.
 */
public final class Weir {

  private static final Logger LOG = LoggerFactory.getLogger(Weir.class);

  private static final long STATUS_MILLIS = 2000;

  /** From one look at files that settings name to the next. */
  private static final long LOOK_MILLIS = 2000;

  /** Looked at only, which changes nothing. */
  private static final String WARM_UP_KEY = "weir";

  private static final int WARM_UP_READS = 10;

  /** In the data directory, what is counted of usage. */
  private static final String USAGE = "usage";

  /** In the data directory, the configuration that is in force. */
  private static final String CONFIG = "config";

  /** Two of the largest bodies, on each event loop. */
  private static final long LEAST_BODY_BYTES = 2 << 20;

  private final Vertx vertx;
  private final Settings settings;
  private final PrometheusMeterRegistry registry;
  private final KeyRoom room;
  private final Clock clock = Clock.system();
  private final StoreClock storeClock = new StoreClock(clock);
  private final long startedAtMillis = clock.epochMillis();

  /** The last one first, the order in which they are to stop. */
  private final Deque<String> deployments = new ArrayDeque<>();

  /** Each reads files again that settings name. */
  private final List<Runnable> looks = new ArrayList<>();

  private Supplier<AdminTokens> adminTokens;
  private Optional<WatchedFiles<ServerIdentity>> httpIdentity = Optional.empty();
  private Optional<WatchedFiles<ServerIdentity>> adminIdentity = Optional.empty();
  private ConfigVerticle config;
  private Store store;
  private UsageStore usageStore;
  private UsageJournal usage;
  private LeaseVerticle lease;
  private LocalLimiter limiter;
  private int httpPort;
  private String decisions;
  private NodeBus nodeBus;
  private DemandRates rates;
  private Supplier<Map<String, Long>> demand;
  private ControlCalls calls;
  private FleetDemand fleetDemand;
  private RegionCalls regionCalls;
  private ControlPlane controlPlane;
  private OptionalLong statusTimer = OptionalLong.empty();

  private Weir(Vertx vertx, Settings settings, PrometheusMeterRegistry registry) {
    this.vertx = vertx;
    this.settings = settings;
    this.registry = registry;
    this.room = room(settings);
  }

  /** Deploys a node that keeps its metrics to itself; they are at {@code /metrics} all the same. */
  public static Future<Weir> deploy(Vertx vertx, Settings settings) {
    return deploy(vertx, settings, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }

  /**
   * Deploys a node.
   *
   * @param vertx to deploy it in; for a node of a cluster, one that Hazelcast clusters
   * @param settings of the node
   * @param registry for the node's metrics
   * @return a future that is complete once the node answers. It fails with {@link
   *     SettingsRefusedException} if the node cannot be with these settings: a wrong plans file, a
   *     port that is taken. A store out of reach is no failure.
   */
  public static Future<Weir> deploy(
      Vertx vertx, Settings settings, PrometheusMeterRegistry registry) {
    Weir weir = new Weir(vertx, settings, registry);
    return weir.deploy()
        .recover(failure -> weir.stop().transform(done -> Future.failedFuture(failure)))
        .map(weir);
  }

  /** Decides at once from what the node holds, without a hop. */
  public RateLimiter limiter() {
    return limiter;
  }

  /** The port of the data plane. */
  public int httpPort() {
    return httpPort;
  }

  /** The port of the control plane. */
  public int adminPort() {
    return controlPlane.port();
  }

  /**
   * Is no longer ready, has callers leave, answers what is under way, gives all permits back to the
   * store, and ends.
   */
  public Future<Void> stop() {
    statusTimer.ifPresent(vertx::cancelTimer);
    // Of no context, since whoever goes on to close Vert.x would wait for one of a loop that ended.
    Future<Void> stopped = Future.succeededFuture();
    if (calls != null) {
      calls.stopping();
    }
    if (decisions != null) {
      // Before the control plane, which tells meanwhile that the node is not ready.
      deployments.remove(decisions);
      stopped = stopped.eventually(() -> vertx.undeploy(decisions));
    }
    for (String deployment : deployments) {
      stopped = stopped.eventually(() -> vertx.undeploy(deployment));
    }
    return usageStore == null ? stopped : stopped.eventually(usageStore::close);
  }

  private Future<?> deploy() {
    Optional<HazelcastInstance> hazelcast = hazelcast();
    if (settings.cluster().enabled() && hazelcast.isEmpty()) {
      return Future.failedFuture(
          new SettingsRefusedException(
              List.of("cluster.enabled: must be off in a Vert.x that Hazelcast does not cluster")));
    }
    // Read meanwhile, since nothing but the control plane waits for it.
    Future<ApiDocument> api = vertx.executeBlocking(ApiDocument::load, false);
    return vertx
        .executeBlocking(this::readFiles, false)
        .compose(done -> vertx.executeBlocking(this::seed, false))
        .compose(seed -> deployConfig(seed, hazelcast))
        .compose(done -> deployUsage())
        .compose(done -> deployLease())
        .compose(done -> deployDecision())
        .compose(done -> deployNodeBus())
        .compose(done -> api)
        .compose(this::deployControlPlane)
        .compose(done -> deployReloads())
        .compose(done -> deployRegions())
        .compose(done -> warmUp(WARM_UP_READS))
        .onSuccess(
            done -> {
              tellRoom();
              tellStatus();
            });
  }

  private Optional<HazelcastInstance> hazelcast() {
    return settings.cluster().enabled()
            && ((VertxInternal) vertx).clusterManager() instanceof HazelcastClusterManager manager
        ? Optional.of(manager.getHazelcastInstance())
        : Optional.empty();
  }

  /** What of {@code max_keys} the heap has room for. */
  private static KeyRoom room(Settings settings) {
    boolean embedded = settings.store().url() instanceof StoreUrl.Embedded;
    return KeyRoom.in(Runtime.getRuntime().maxMemory(), settings.maxKeys(), embedded);
  }

  private void tellRoom() {
    if (room.keys() < settings.maxKeys()) {
      LOG.info(
          "max_keys: {} keys are held of {}, since the heap has {} MiB; -Xmx gives it more",
          room.keys(),
          settings.maxKeys(),
          Runtime.getRuntime().maxMemory() >> 20);
    }
  }

  /** Those that are read again when they change. */
  private Void readFiles() {
    adminTokens = readTokens();
    httpIdentity =
        settings.http().tls().map(files -> ServerIdentity.watch("http.tls", files, vertx));
    adminIdentity =
        settings.admin().tls().map(files -> ServerIdentity.watch("admin.tls", files, vertx));
    return null;
  }

  private Supplier<AdminTokens> readTokens() {
    Optional<Secret> token = settings.admin().token();
    if (settings.admin().tokensFile().isEmpty()) {
      AdminTokens tokens = AdminTokens.of(token);
      return () -> tokens;
    }
    WatchedFiles<AdminTokens> file =
        WatchedFiles.read(
            List.of(
                new WatchedFiles.Source(
                    SettingTable.ADMIN_TOKENS_FILE.path(), settings.admin().tokensFile().get())),
            contents -> AdminTokens.parse(contents.get(0), token, settings.region().token()));
    looks.add(() -> file.look(changed -> Future.succeededFuture()));
    return file::current;
  }

  private Seed seed() {
    try {
      PlansFile plans = settings.plans().map(PlansFile::read).orElseGet(PlansFile::example);
      requireRegionIn(plans.regions());
      return new Seed(plans, settings.plansAuthoritative(), settings.region().name());
    } catch (ConfigRefusedException e) {
      throw refusedPlans(e);
    }
  }

  private SettingsRefusedException refusedPlans(ConfigRefusedException refused) {
    String file = settings.plans().map(Path::toString).orElse("the built-in example");
    return new SettingsRefusedException(
        refused.errors().stream().map(error -> "plans: " + file + ": " + error).toList());
  }

  /** A node of no region would enforce nothing, which nobody means. */
  private void requireRegionIn(RegionWeights table) {
    if (!table.isEmpty() && !table.millionths().containsKey(settings.region().name())) {
      throw new SettingsRefusedException(
          List.of(
              "region: must be one of the regions of the plans, "
                  + table.names()
                  + ", was "
                  + Quoted.of(settings.region().name())));
    }
  }

  private Future<?> deployConfig(Seed seed, Optional<HazelcastInstance> hazelcast) {
    config =
        hazelcast
            .map(instance -> ConfigVerticle.clustered(seed, instance, clock))
            .orElseGet(() -> ConfigVerticle.alone(seed, clock))
            .keptIn(settings.dataDir().resolve(CONFIG));
    return deploy(() -> config, 1)
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof ConfigRefusedException refused
                        ? new SettingsRefusedException(refused.errors())
                        : failure));
  }

  /** Before whatever counts, so that it ends after that. */
  private Future<?> deployUsage() {
    usageStore =
        Stores.openUsage(
            settings.store().url(), settings.store().prefix(), room, vertx, clock, registry);
    // Nobody waits for it, and where it is out of reach the refills are too, and say so.
    usageStore.start().otherwiseEmpty();
    AccountingWindow window = AccountingWindow.of(settings.accuracyWindow());
    return vertx
        .executeBlocking(
            () ->
                UsageJournal.open(
                    settings.dataDir().resolve(USAGE), window, settings.usage().maxDisk(), clock),
            false)
        .compose(
            opened -> {
              usage = opened;
              return vertx
                  .deployVerticle(
                      new UsageVerticle(
                          usage, usageStore, this::address, clock, storeClock, registry),
                      new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER))
                  .onSuccess(deployments::addFirst);
            });
  }

  private Future<?> deployLease() {
    store =
        Stores.open(
            settings.store().url(),
            settings.store().prefix(),
            settings.accuracyWindow(),
            settings.store().timeout(),
            room,
            vertx,
            clock,
            registry);
    lease = new LeaseVerticle(store, clock, storeClock, settings.store().timeout(), registry);
    return deploy(() -> lease, 1);
  }

  private Future<?> deployDecision() {
    Configuration configuration = config.configuration();
    Membership membership = config.membership();
    Decider decider =
        new Decider(
            clock,
            lease.refills(),
            LeaseCeiling.of(settings.tolerance(), settings.accuracyWindow()),
            room.keys(),
            configuration.current(),
            storeClock,
            usage);
    new DecisionMeters(decider).bindTo(registry);
    demand = decider::demand;
    rates = new DemandRates(clock, decider.demand());
    configuration.onChange(decider::configure);
    membership.onChange(() -> decider.nodes(membership.leasing()));
    // What changed before the listeners were there.
    decider.nodes(membership.leasing());
    decider.configure(configuration.current());
    limiter = new LocalLimiter(vertx, decider, room.recent());

    Settings.Http http = settings.http();
    DecisionVerticle.Endpoint endpoint =
        new DecisionVerticle.Endpoint(
            http.host(),
            http.port(),
            http.token().map(Secret::text),
            settings.trustedProxies(),
            options(httpIdentity),
            Math.max(LEAST_BODY_BYTES, Runtime.getRuntime().maxMemory() / 16 / eventLoops()),
            http.clientTimeout());
    AtomicReference<DecisionVerticle> first = new AtomicReference<>();
    Supplier<DecisionVerticle> instances =
        () -> {
          boolean isFirst = first.get() == null;
          DecisionVerticle instance = new DecisionVerticle(limiter, storeClock, endpoint, isFirst);
          first.compareAndSet(null, instance);
          return instance;
        };
    return deploy(instances, eventLoops())
        .onSuccess(
            deployment -> {
              decisions = deployment;
              httpPort = first.get().port();
              keepShown("http", httpIdentity, first.get()::renew);
            })
        .recover(failure -> refused("http", http.host(), http.port(), failure));
  }

  private Future<?> deployNodeBus() {
    nodeBus =
        new NodeBus(
            address(),
            config.membership(),
            Map.of(
                KeyReset.CALL,
                KeyReset.obey(limiter::forget),
                FleetHotKeys.CALL,
                FleetHotKeys.count(limiter::hotKeys),
                StoreLoss.CALL,
                StoreLoss.obey(address(), limiter::carryOver),
                FleetDemand.CALL,
                FleetDemand.tell(rates::rates)));
    StoreLoss loss =
        new StoreLoss(vertx, address(), question -> nodeBus.ask(StoreLoss.CALL, question));
    return deploy(() -> nodeBus, 1).onSuccess(done -> store.onLoss(loss::found));
  }

  private Future<?> deployControlPlane(ApiDocument api) {
    KeyReset reset =
        new KeyReset(
            config.configuration(),
            lease::forget,
            question -> nodeBus.ask(KeyReset.CALL, question));
    AuditTrail audit = new AuditTrail(config.auditLog(), clock);
    config.onLoss(audit::lost);
    calls =
        new ControlCalls(
            config.configuration(),
            config.membership(),
            limiter,
            reset,
            audit,
            new FleetHotKeys(question -> nodeBus.ask(FleetHotKeys.CALL, question)),
            new KeyUsage(usageStore::recent),
            store::healthy,
            clock);
    fleetDemand = new FleetDemand(question -> nodeBus.ask(FleetDemand.CALL, question));
    regionCalls =
        new RegionCalls(
            vertx,
            config.configuration(),
            config.membership(),
            settings.region().name(),
            fleetDemand::now,
            audit);
    controlPlane =
        new ControlPlane(
            settings.admin(),
            options(adminIdentity),
            adminTokens,
            settings.region().token(),
            calls,
            regionCalls,
            registry::scrape,
            api);
    Settings.Admin admin = settings.admin();
    return deploy(() -> controlPlane, 1)
        .onSuccess(done -> keepShown("admin", adminIdentity, controlPlane::renew))
        .recover(failure -> refused("admin", admin.host(), admin.port(), failure));
  }

  private static Optional<ServerSSLOptions> options(
      Optional<WatchedFiles<ServerIdentity>> identity) {
    return identity.map(files -> files.current().options());
  }

  /** Has an endpoint show the certificate that its files have from now on. */
  private void keepShown(
      String endpoint,
      Optional<WatchedFiles<ServerIdentity>> identity,
      Function<ServerSSLOptions, Future<?>> show) {
    Gauge.builder("weir.certificate.end.seconds", identity, Weir::endSeconds)
        .tag("endpoint", endpoint)
        .description("When the certificate ends, in seconds since 1970; NaN without one")
        .register(registry);
    identity.ifPresent(files -> looks.add(() -> files.look(now -> show.apply(now.options()))));
  }

  private static double endSeconds(Optional<WatchedFiles<ServerIdentity>> identity) {
    return identity.map(files -> (double) files.current().endSeconds()).orElse(Double.NaN);
  }

  private Future<?> deployReloads() {
    return looks.isEmpty()
        ? Future.succeededFuture()
        : vertx
            .deployVerticle(
                new FileReloads(looks, LOOK_MILLIS),
                new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER))
            .onSuccess(deployments::addFirst);
  }

  private Future<?> deployRegions() {
    RegionExchange exchange =
        new RegionExchange(
            config.configuration(),
            config.membership(),
            address(),
            settings.region(),
            demand,
            rates,
            fleetDemand,
            regionCalls,
            registry);
    return deploy(() -> exchange, 1);
  }

  /**
   * Reads from the store {@code reads} times and decides once. The first calls of a JVM run code
   * that has yet to be loaded, and would miss a deadline that is meant for the store; so the first
   * callers of a node would be answered without it. A store that is out of reach costs that many
   * deadlines.
   */
  private Future<?> warmUp(int reads) {
    // Either is refused where keys without a plan are, which is as well.
    return reads == 0
        ? limiter.check(CheckRequest.of(WARM_UP_KEY).withCost(0)).otherwiseEmpty()
        : limiter.inspect(WARM_UP_KEY).transform(read -> warmUp(reads - 1).mapEmpty());
  }

  private Future<String> deploy(Supplier<? extends Deployable> verticle, int instances) {
    return vertx
        .deployVerticle(verticle, new DeploymentOptions().setInstances(instances))
        .onSuccess(deployments::addFirst);
  }

  private int eventLoops() {
    int loops = 0;
    for (EventExecutor ignored : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      loops++;
    }
    return loops;
  }

  /** A host or port that cannot be listened on is for the user to change. */
  private static <T> Future<T> refused(String section, String host, int port, Throwable failure) {
    if (failure instanceof IOException || failure instanceof UnresolvedAddressException) {
      String reason = Optional.ofNullable(failure.getMessage()).orElse("no such host");
      return Future.failedFuture(
          new SettingsRefusedException(
              List.of(
                  section
                      + ".port: cannot listen on "
                      + host
                      + ":"
                      + port
                      + ": "
                      + Quoted.printable(reason))));
    }
    return Future.failedFuture(failure);
  }

  private void tellStatus() {
    Gauge.builder("weir.nodes", config.membership(), Membership::nodes)
        .description("Live nodes of the cluster, as this one sees them")
        .register(registry);
    Gauge.builder("weir.nodes.missing", config.membership(), m -> m.leasing() - m.nodes())
        .description("Nodes that vanished lately without leaving, and still count for leases")
        .register(registry);
    Gauge.builder("weir.config.version", config.configuration(), c -> c.current().version())
        .description("Version of the configuration in force on this node")
        .register(registry);
    Gauge.builder("weir.config.saved.version", config, ConfigVerticle::savedVersion)
        .description("Version of the configuration that is on this node's disk")
        .register(registry);
    Gauge.builder(
            "weir.config.assignments",
            config.configuration(),
            c -> c.current().assignments().size())
        .description("Keys that are assigned to a plan")
        .register(registry);
    Gauge.builder("weir.store.up", store, s -> s.healthy() ? 1 : 0)
        .description("1 if the store answered when it was last asked")
        .register(registry);
    publishStatus();
    config.configuration().onChange(changed -> publishStatus());
    statusTimer = OptionalLong.of(vertx.setPeriodic(STATUS_MILLIS, timer -> publishStatus()));
  }

  private String address() {
    return hazelcast()
        .map(instance -> instance.getCluster().getLocalMember().getAddress())
        .map(address -> address.getHost() + ":" + address.getPort())
        .orElseGet(() -> settings.http().host() + ":" + httpPort);
  }

  private void publishStatus() {
    config
        .membership()
        .publish(
            new NodeStatus(
                address(),
                config.configuration().current().version(),
                config.configuration().current().regions().ledger().givenDigest(),
                config.savedGiven(),
                settings.region().name(),
                startedAtMillis,
                store.healthy() ? "up" : "down"));
  }
}
