package dev.weir.lease;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/** A {@code redis-server} process, controlled by its id. */
final class RedisProcess implements RedisHost {
  private static final String LOOPBACK = "127.0.0.1";
  private static final Set<RedisProcess> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> RUNNING.forEach(RedisProcess::close), "redis-end"));
  }

  private static final class Bundled {
    private static final Path BINARY = unpack();

    private static Path unpack() {
      try {
        return ExecutableProvider.newJarResourceProvider().get().toPath();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private final Path binary;
  private final int port;
  private final List<String> arguments;
  private final Map<String, String> environment;
  private final Path directory;
  private Optional<Process> process = Optional.empty();

  RedisProcess(Path binary, int port, List<String> arguments, Map<String, String> environment) {
    this.binary = binary;
    this.port = port;
    this.arguments = arguments;
    this.environment = environment;
    try {
      this.directory = Files.createTempDirectory("weir-redis");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    RUNNING.add(this);
  }

  static Optional<Path> onPath() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return Stream.of(path.split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, "redis-server"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static Path bundled() {
    return Bundled.BINARY;
  }

  static int freePort() {
    // A Redis Cluster node listens 10,000 above its port as well.
    while (true) {
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        if (socket.getLocalPort() <= 55_535) {
          return socket.getLocalPort();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public String host() {
    return LOOPBACK;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void start() {
    try {
      // A file, not arguments, since Sentinel insists on one that it can write to.
      Path configuration = directory.resolve("redis.conf");
      Files.writeString(
          configuration,
          String.join(
              "\n",
              "port " + port,
              "bind " + LOOPBACK,
              "dir " + directory,
              "save \"\"",
              "appendonly no",
              ""));
      List<String> command = new ArrayList<>(List.of(binary.toString(), configuration.toString()));
      command.addAll(arguments);
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("log").toFile());
      builder.environment().putAll(environment);
      process = Optional.of(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean isAlive() {
    return process.map(Process::isAlive).orElse(false);
  }

  @Override
  public void kill() {
    process.ifPresent(running -> running.destroyForcibly().onExit().join());
  }

  @Override
  public void suspend() {
    signal("STOP");
  }

  @Override
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    long pid = process.orElseThrow().pid();
    try {
      int code =
          new ProcessBuilder("kill", "-" + name, Long.toString(pid))
              .start()
              .onExit()
              .join()
              .exitValue();
      if (code != 0) {
        throw new IllegalStateException("kill -" + name + " " + pid + " failed: " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
    RUNNING.remove(this);
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException | UncheckedIOException e) {
      // Gone already; it is a temporary directory in any case.
    }
  }

  @Override
  public String toString() {
    try {
      return Files.readString(directory.resolve("log"));
    } catch (IOException e) {
      return binary + " left no log";
    }
  }
}
