package dev.weir.config;

import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Brings a node its configuration, what was changed of it, and who else is there. Deploy one
 * instance; all are to be had from it once the deployment has succeeded.
 */
public final class ConfigVerticle extends VerticleBase {

  private static final long START_SECONDS = 60;
  private static final long STOP_SECONDS = 2;

  /** How late an override ends at most on a node that is alone. */
  private static final long END_MILLIS = 100;

  private final Seed seed;
  private final Optional<HazelcastInstance> hazelcast;
  private final Optional<Path> directory;
  private final Clock clock;

  /** Tells this node from all others, and from itself after another start. */
  private final String self = UUID.randomUUID().toString().substring(0, 8);

  private volatile Configuration configuration;
  private volatile Membership membership;
  private volatile AuditLog auditLog;
  private volatile Optional<KeptState> kept = Optional.empty();
  private volatile Optional<Cluster> cluster = Optional.empty();

  private ConfigVerticle(
      Seed seed, Optional<HazelcastInstance> hazelcast, Optional<Path> directory, Clock clock) {
    this.seed = seed;
    this.hazelcast = hazelcast;
    this.directory = directory;
    this.clock = clock;
  }

  /**
   * Of a node that shares its configuration with nobody.
   *
   * @param clock by which overrides end
   */
  public static ConfigVerticle alone(Seed seed, Clock clock) {
    return new ConfigVerticle(seed, Optional.empty(), Optional.empty(), clock);
  }

  /**
   * Of a node in a cluster. The first one brings {@code seed} in, or what it knew when it stopped;
   * a later one takes what the cluster has, unless it knows of a higher version, and then applies
   * its seed to it.
   *
   * @param hazelcast running, and left running when the verticle stops
   * @param clock by which overrides end on this node
   */
  public static ConfigVerticle clustered(Seed seed, HazelcastInstance hazelcast, Clock clock) {
    return new ConfigVerticle(seed, Optional.of(hazelcast), Optional.empty(), clock);
  }

  /** The same, which keeps what it knows in {@code newDirectory}, and goes on from there. */
  public ConfigVerticle keptIn(Path newDirectory) {
    return new ConfigVerticle(seed, hazelcast, Optional.of(newDirectory), clock);
  }

  @Override
  public Future<?> start() {
    return vertx
        .executeBlocking(() -> directory.flatMap(StateFile::open), false)
        .onSuccess(opened -> kept = opened.map(file -> new KeptState(file, clock)))
        .compose(opened -> vertx.executeBlocking(() -> opened.flatMap(StateFile::read), false))
        .compose(saved -> hazelcast.isPresent() ? join(saved, hazelcast.get()) : beginAlone(saved))
        .onSuccess(state -> kept.ifPresent(keeper -> keeper.keep(configuration, state)))
        .recover(failure -> letGo().transform(done -> Future.failedFuture(failure)));
  }

  private Future<Supplier<ConfigState>> beginAlone(Optional<ConfigState> saved) {
    LocalConfiguration local = new LocalConfiguration(seed.appliedTo(saved, self), self, clock);
    vertx.setPeriodic(END_MILLIS, id -> local.endOverrides());
    configuration = local;
    membership = new SoleMembership();
    auditLog = new LocalAuditLog();
    return Future.succeededFuture(local::state);
  }

  private Future<Supplier<ConfigState>> join(
      Optional<ConfigState> saved, HazelcastInstance instance) {
    WorkerExecutor writer = vertx.createSharedWorkerExecutor("weir-config-" + deploymentID(), 1);
    ScheduledExecutorService reader = DaemonThread.scheduled("weir-config-reader");
    return writer
        .executeBlocking(() -> Cluster.join(saved, seed, instance, self, clock, writer, reader))
        .timeout(START_SECONDS, TimeUnit.SECONDS)
        .onFailure(e -> reader.shutdownNow())
        .map(
            joined -> {
              cluster = Optional.of(joined);
              configuration = joined.configuration();
              membership = joined.membership();
              auditLog = new ClusterAuditLog(instance, writer);
              return joined.configuration()::state;
            });
  }

  @Override
  public Future<?> stop() {
    // At the same time, since whoever ends the process does not wait for long.
    Future<Void> left = cluster.map(joined -> joined.leave(vertx)).orElse(Future.succeededFuture());
    return Future.join(left, letGo());
  }

  private Future<Void> letGo() {
    return vertx.executeBlocking(
        () -> {
          kept.ifPresent(KeptState::close);
          return null;
        },
        false);
  }

  /**
   * The configuration in force here.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public Configuration configuration() {
    return deployed(configuration);
  }

  /**
   * The live nodes, this one included.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public Membership membership() {
    return deployed(membership);
  }

  /**
   * What was changed lately.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public AuditLog auditLog() {
    return deployed(auditLog);
  }

  /**
   * Has {@code listener} be told of changes that are lost because another part of the cluster has
   * the higher version, on any thread, those included that were lost before.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public void onLoss(Consumer<LostChange> listener) {
    deployed(configuration);
    cluster.ifPresent(joined -> joined.configuration().onLoss(listener));
  }

  /** The version of the configuration that is on disk; 0 if none is. */
  public long savedVersion() {
    return kept.map(KeptState::savedVersion).orElse(0L);
  }

  /**
   * Tells apart what this region has given to others, as it is on disk, empty if nothing was given;
   * see {@link RegionLedger#givenDigest}. While nothing is on disk it is that of nothing at all, so
   * that the region gives nothing which this node could forget.
   */
  public String savedGiven() {
    return kept.map(KeptState::savedGiven).orElse(StateSaver.UNSAVED);
  }

  private static <T> T deployed(T started) {
    if (started == null) {
      throw new IllegalStateException("the config verticle has not been deployed yet");
    }
    return started;
  }

  /** What a clustered node has to end. */
  private record Cluster(
      ClusterConfiguration configuration,
      ClusterMembership membership,
      WorkerExecutor writer,
      ScheduledExecutorService reader) {

    static Cluster join(
        Optional<ConfigState> saved,
        Seed seed,
        HazelcastInstance hazelcast,
        String self,
        Clock clock,
        WorkerExecutor writer,
        ScheduledExecutorService reader)
        throws Exception {
      ClusterConfiguration configuration =
          ClusterConfiguration.join(saved, seed, hazelcast, self, clock, writer, reader);
      ClusterMembership membership = new ClusterMembership(hazelcast, reader, clock);
      membership.onChange(() -> configuration.nodes(membership.nodes()));
      configuration.nodes(membership.nodes());
      return new Cluster(configuration, membership, writer, reader);
    }

    /** Apart from the writer, whose changes may hang, it says that it leaves. */
    Future<Void> leave(Vertx vertx) {
      return Future.join(
              vertx.executeBlocking(Executors.callable(membership::close), false),
              writer.executeBlocking(Executors.callable(configuration::close)))
          .<Void>mapEmpty()
          .timeout(STOP_SECONDS, TimeUnit.SECONDS)
          .eventually(
              () -> {
                reader.shutdownNow();
                return writer.close();
              });
    }
  }
}
