package dev.weir.lease;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * A real Redis for tests, without persistence, on a port of its own: a container when Docker
 * answers, else the {@code redis-server} of the path, else the binary that embedded-redis bundles.
 * Ends with the JVM at the latest.
 *
 * <p>The image is {@code redis:7-alpine} unless the system property or environment variable {@code
 * WEIR_TEST_REDIS_IMAGE} names another, or none (the empty text), which does without Docker.
 */
public final class RedisServer implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int ATTEMPTS = 5;

  private static final class Shared {
    private static final RedisServer SERVER = start();
  }

  private final RedisHost host;

  private RedisServer(RedisHost host) {
    this.host = host;
  }

  /**
   * Starts a server that answers when this returns.
   *
   * @param arguments as {@code redis-server} takes them
   */
  public static RedisServer start(String... arguments) {
    return RedisContainer.dockerAnswers()
        ? new RedisServer(new RedisContainer(RedisProcess.freePort(), List.of(arguments))).started()
        : startProcess(arguments);
  }

  /** Starts a process, of the path or bundled, whether or not Docker answers. */
  public static RedisServer startProcess(String... arguments) {
    return startProcess(Map.of(), arguments);
  }

  /** Starts a process with more in its environment. */
  public static RedisServer startProcess(Map<String, String> environment, String... arguments) {
    return startProcess(
        RedisProcess.onPath().orElseGet(RedisProcess::bundled), environment, arguments);
  }

  /** Starts the bundled binary. */
  public static RedisServer startBundled(String... arguments) {
    return startProcess(RedisProcess.bundled(), Map.of(), arguments);
  }

  /** Starts a Sentinel that watches over nothing yet; never in a container. */
  public static RedisServer startSentinel() {
    return startProcess("--sentinel");
  }

  /** The server that tests share which do it no harm. */
  public static RedisServer shared() {
    return Shared.SERVER;
  }

  private static RedisServer startProcess(
      Path binary, Map<String, String> environment, String... arguments) {
    // Another process may take the free port before Redis does.
    for (int attempt = 1; ; attempt++) {
      RedisProcess process =
          new RedisProcess(binary, RedisProcess.freePort(), List.of(arguments), environment);
      try {
        return new RedisServer(process).started();
      } catch (RuntimeException e) {
        process.close();
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private RedisServer started() {
    host.start();
    awaitAnswer();
    return this;
  }

  private void awaitAnswer() {
    Awaitility.await("Redis on port " + port())
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .failFast("Redis did not start: " + host, () -> !host.isAlive())
        .until(this::answers);
  }

  private boolean answers() {
    try (RedisProbe probe = probe()) {
      Object pong = probe.call("PING");
      return pong.equals("PONG") || pong.toString().startsWith("NOAUTH");
    }
  }

  public String host() {
    return host.host();
  }

  public int port() {
    return host.port();
  }

  /** {@code redis://host:port}. */
  public String url() {
    return "redis://" + host() + ":" + port();
  }

  /** One command on a connection of its own; an error is the {@code String} that Redis sends. */
  public Object call(String... command) {
    try (RedisProbe probe = probe()) {
      return probe.call(command);
    }
  }

  /** A connection of its own, to be closed by the caller. */
  public RedisProbe probe() {
    return RedisProbe.connect(host(), port());
  }

  /** Connections of clients, without the one that asks. */
  long clientConnections() {
    return call("CLIENT", "LIST", "TYPE", "normal").toString().lines().count() - 1;
  }

  /** What it has logged. */
  String log() {
    return host.toString();
  }

  /** Ends the server at once, as {@code kill -9} does. What it held is lost. */
  public void kill() {
    host.kill();
  }

  /** Starts a killed server again, empty, on the same port. */
  public void restart() {
    started();
  }

  /** Stops the server from running while its connections stay open, as {@code kill -STOP} does. */
  public void suspend() {
    host.suspend();
  }

  /** Lets a suspended server go on. */
  public void resume() {
    host.resume();
  }

  @Override
  public void close() {
    host.close();
  }
}
