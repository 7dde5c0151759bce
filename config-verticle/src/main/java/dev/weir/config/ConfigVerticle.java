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
 * Brings a node its configuration and tells it who else is there. Deploy one instance; both are to
 * be had from it once the deployment has succeeded.
 */
public final class ConfigVerticle extends VerticleBase {

  private static final long START_SECONDS = 60;
  private static final long STOP_SECONDS = 5;

  /** How late an override ends at most on a node that is alone. */
  private static final long END_MILLIS = 100;

  private final PlansFile seed;
  private final Optional<HazelcastInstance> hazelcast;
  private volatile Configuration configuration;
  private volatile Membership membership;
  private Optional<Cluster> cluster = Optional.empty();

  private ConfigVerticle(PlansFile seed, Optional<HazelcastInstance> hazelcast) {
    this.seed = seed;
    this.hazelcast = hazelcast;
  }

  /** Of a node that shares its configuration with nobody. */
  public static ConfigVerticle alone(PlansFile seed) {
    return new ConfigVerticle(seed, Optional.empty());
  }

  /**
   * Of a node in a cluster. The first one brings {@code seed} in; a later one takes what the
   * cluster has and adds the plans, endpoints and keys of its seed that are not there yet.
   *
   * @param hazelcast running, and left running when the verticle stops
   */
  public static ConfigVerticle clustered(PlansFile seed, HazelcastInstance hazelcast) {
    return new ConfigVerticle(seed, Optional.of(hazelcast));
  }

  @Override
  public Future<?> start() {
    if (hazelcast.isEmpty()) {
      LocalConfiguration local = new LocalConfiguration(seed, Clock.system());
      vertx.setPeriodic(END_MILLIS, id -> local.endOverrides());
      configuration = local;
      membership = new SoleMembership();
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
        .executeBlocking(() -> Cluster.join(seed, hazelcast.get(), writer, reader))
        .timeout(START_SECONDS, TimeUnit.SECONDS)
        .onSuccess(
            joined -> {
              cluster = Optional.of(joined);
              configuration = joined.configuration();
              membership = joined.membership();
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
        WorkerExecutor writer,
        ScheduledExecutorService reader) {
      return new Cluster(
          new ClusterConfiguration(seed, hazelcast, Clock.system(), writer, reader),
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
