package dev.weir.config;

import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.WorkerExecutor;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Brings a node its configuration, what was changed of it, and who else is there. Deploy one
 * instance; all are to be had from it once the deployment has succeeded.
 */
public final class ConfigVerticle extends VerticleBase {

  private static final long START_SECONDS = 60;
  private static final long STOP_SECONDS = 5;

  /** How late an override ends at most on a node that is alone. */
  private static final long END_MILLIS = 100;

  private final PlansFile seed;
  private final Optional<HazelcastInstance> hazelcast;
  private final Clock clock;
  private volatile Configuration configuration;
  private volatile Membership membership;
  private volatile AuditLog auditLog;
  private Optional<Cluster> cluster = Optional.empty();

  private ConfigVerticle(PlansFile seed, Optional<HazelcastInstance> hazelcast, Clock clock) {
    this.seed = seed;
    this.hazelcast = hazelcast;
    this.clock = clock;
  }

  /**
   * Of a node that shares its configuration with nobody.
   *
   * @param clock by which overrides end
   */
  public static ConfigVerticle alone(PlansFile seed, Clock clock) {
    return new ConfigVerticle(seed, Optional.empty(), clock);
  }

  /**
   * Of a node in a cluster. The first one brings {@code seed} in; a later one takes what the
   * cluster has and adds the plans, endpoints and keys of its seed that are not there yet.
   *
   * @param hazelcast running, and left running when the verticle stops
   * @param clock by which overrides end on this node
   */
  public static ConfigVerticle clustered(PlansFile seed, HazelcastInstance hazelcast, Clock clock) {
    return new ConfigVerticle(seed, Optional.of(hazelcast), clock);
  }

  @Override
  public Future<?> start() {
    if (hazelcast.isEmpty()) {
      LocalConfiguration local = new LocalConfiguration(seed, clock);
      vertx.setPeriodic(END_MILLIS, id -> local.endOverrides());
      configuration = local;
      membership = new SoleMembership();
      auditLog = new LocalAuditLog();
      return Future.succeededFuture();
    }
    WorkerExecutor writer = vertx.createSharedWorkerExecutor("weir-config-" + deploymentID(), 1);
    ScheduledExecutorService reader =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "weir-config-reader");
              thread.setDaemon(true);
              return thread;
            });
    return writer
        .executeBlocking(() -> Cluster.join(seed, hazelcast.get(), clock, writer, reader))
        .timeout(START_SECONDS, TimeUnit.SECONDS)
        .onSuccess(
            joined -> {
              cluster = Optional.of(joined);
              configuration = joined.configuration();
              membership = joined.membership();
              auditLog = new ClusterAuditLog(hazelcast.get(), writer);
            })
        .onFailure(e -> reader.shutdownNow());
  }

  @Override
  public Future<?> stop() {
    return cluster.map(Cluster::leave).orElse(Future.succeededFuture());
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
        PlansFile seed,
        HazelcastInstance hazelcast,
        Clock clock,
        WorkerExecutor writer,
        ScheduledExecutorService reader) {
      return new Cluster(
          new ClusterConfiguration(seed, hazelcast, clock, writer, reader),
          new ClusterMembership(hazelcast, reader),
          writer,
          reader);
    }

    Future<Void> leave() {
      return writer
          .<Void>executeBlocking(
              () -> {
                configuration.close();
                membership.close();
                return null;
              })
          .timeout(STOP_SECONDS, TimeUnit.SECONDS)
          .eventually(
              () -> {
                reader.shutdownNow();
                return writer.close();
              });
    }
  }
}
