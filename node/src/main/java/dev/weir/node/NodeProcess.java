package dev.weir.node;

import dev.weir.config.ClusterSettings;
import dev.weir.config.HazelcastConfiguration;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node that has a process to itself. It lives until the process is told to end, and then gives
 * back what it holds before it lets it.
 */
final class NodeProcess {

  private static final Logger LOG = LoggerFactory.getLogger(NodeProcess.class);

  private static final long START_SECONDS = 120;

  /** What stops a node from outside has to leave it this long. */
  static final long STOP_SECONDS = 10;

  private final Vertx vertx;
  private final Weir weir;

  private NodeProcess(Vertx vertx, Weir weir) {
    this.vertx = vertx;
    this.weir = weir;
  }

  /**
   * Starts the node and says on {@code out} that it answers.
   *
   * @throws SettingsRefusedException if it cannot start with these settings on this machine
   */
  static NodeProcess start(Settings settings, PrintWriter out) throws InterruptedException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Vertx vertx = vertx(settings, registry);
    Weir weir;
    try {
      weir = await(Weir.deploy(vertx, settings, registry), START_SECONDS);
    } catch (RuntimeException e) {
      close(vertx);
      throw e;
    }
    NodeProcess process = new NodeProcess(vertx, weir);
    Runtime.getRuntime().addShutdownHook(new Thread(process::shutDown, "weir-shutdown"));
    out.println(ReadyLine.of(settings, weir.httpPort(), weir.adminPort()));
    return process;
  }

  /** Waits for the process to end. */
  void join() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  /**
   * Runs as a shutdown hook. It halts the JVM itself, since one that ends by a signal would
   * otherwise say that it failed.
   */
  private void shutDown() {
    LOG.info("stopping");
    try {
      await(weir.stop().eventually(vertx::close), STOP_SECONDS);
      LOG.info("stopped");
    } catch (RuntimeException e) {
      LOG.warn("did not stop in order", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(ExitCode.OK);
  }

  private static Vertx vertx(Settings settings, PrometheusMeterRegistry registry)
      throws InterruptedException {
    VertxOptions options =
        new VertxOptions()
            // More loops than processors would only take turns.
            .setEventLoopPoolSize(Runtime.getRuntime().availableProcessors())
            // No file of the node is served or read through Vert.x.
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false))
            .setMetricsOptions(
                new MicrometerMetricsOptions()
                    .setEnabled(true)
                    // They would take a tenth of a check over HTTP.
                    .addDisabledMetricsCategory(MetricsDomain.HTTP_SERVER));
    VertxBuilder builder =
        Vertx.builder()
            .with(options)
            .withTransport(new GuardedTransport(settings, registry))
            .withMetrics(new MicrometerMetricsFactory(registry));
    if (!settings.cluster().enabled()) {
      return builder.build();
    }
    Settings.Cluster cluster = settings.cluster();
    options.getEventBusOptions().setHost(cluster.host());
    requireFree(cluster.host(), cluster.port());
    ClusterSettings joining =
        new ClusterSettings(
            cluster.name(), cluster.host(), cluster.port(), cluster.members(), cluster.dns());
    return await(
        builder
            .withClusterManager(new HazelcastClusterManager(HazelcastConfiguration.load(joining)))
            .buildClustered(),
        START_SECONDS);
  }

  /** Hazelcast tells of a taken port in three stack traces, and Vert.x in two more. */
  private static void requireFree(String host, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      throw new SettingsRefusedException(
          List.of(
              "cluster.port: cannot listen on "
                  + host
                  + ":"
                  + port
                  + ": "
                  + Quoted.printable(String.valueOf(e.getMessage()))));
    }
  }

  private static void close(Vertx vertx) throws InterruptedException {
    try {
      await(vertx.close(), STOP_SECONDS);
    } catch (RuntimeException e) {
      LOG.warn("did not close in order", e);
    }
  }

  /**
   * Fails with what the future failed with, or with {@link IllegalStateException} if it is late.
   */
  private static <T> T await(Future<T> future, long seconds) throws InterruptedException {
    try {
      return future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("not done within " + seconds + " s", e);
    }
  }
}
