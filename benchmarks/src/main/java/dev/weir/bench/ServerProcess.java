package dev.weir.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A server in a process of its own, so that what it takes of the processors can be told from what
 * its clients take. It listens on the loopback address, and ends with this JVM at the latest.
 */
final class ServerProcess implements AutoCloseable {

  private static final Pattern READY = Pattern.compile("ready http://127\\.0\\.0\\.1:(\\d+)");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final Set<ServerProcess> ALIVE = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> ALIVE.forEach(ServerProcess::close), "end-servers"));
  }

  private final Process process;
  private final TemporaryDirectory directory;
  private final int port;

  private ServerProcess(TemporaryDirectory directory, List<String> command, String input) {
    this(directory, start(directory, command, input), Optional.empty());
  }

  private ServerProcess(TemporaryDirectory directory, Process process, Optional<Integer> known) {
    this.directory = directory;
    this.process = process;
    ALIVE.add(this);
    try {
      this.port = known.isPresent() ? listening(known.get()) : told();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** A node with the embedded store and the plans of {@code plans}, YAML. */
  static ServerProcess node(String plans) {
    return node(plans, Map.of());
  }

  /**
   * A node with the plans of {@code plans}, YAML.
   *
   * @param settings by their paths, which go before those that keep it to this machine
   */
  static ServerProcess node(String plans, Map<String, String> settings) {
    TemporaryDirectory directory = TemporaryDirectory.make();
    Map<String, String> all = new TreeMap<>();
    all.put("http.host", "127.0.0.1");
    all.put("http.port", "0");
    all.put("admin.port", "0");
    all.put("plans", directory.write("plans.yaml", plans).toString());
    all.putAll(settings);
    List<String> arguments = new ArrayList<>(List.of("start"));
    all.forEach((path, value) -> arguments.add("--" + path + "=" + value));
    return new ServerProcess(directory, java("dev.weir.node.Main", arguments), "");
  }

  /** A {@link BareServer}. */
  static ServerProcess bare(FixedAnswer answer) {
    return new ServerProcess(
        TemporaryDirectory.make(),
        java(BareServer.class.getName(), List.of()),
        answer.toJson().encode());
  }

  /** An nginx with one configuration file, which is told a directory and a port. */
  static ServerProcess nginx(Path program, NginxFiles files) {
    TemporaryDirectory directory = TemporaryDirectory.make();
    int port = freePort();
    Path configuration = files.write(directory, port);
    List<String> command =
        List.of(
            program.toString(), "-p", directory.path().toString(), "-c", configuration.toString());
    return new ServerProcess(directory, start(directory, command, ""), Optional.of(port));
  }

  /** What an nginx needs. */
  @FunctionalInterface
  interface NginxFiles {

    /** Writes all of it into {@code directory}, and gives the configuration. */
    Path write(TemporaryDirectory directory, int port);
  }

  int port() {
    return port;
  }

  /** Time that it and its children had on processors so far, microseconds. */
  double cpuMicros() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .map(handle -> handle.info().totalCpuDuration().orElse(Duration.ZERO))
        .mapToDouble(time -> time.toNanos() / 1000.0)
        .sum();
  }

  /** Kills it, since there is nothing that it would have to bring to an end. */
  @Override
  public void close() {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly().onExit().join();
    children.forEach(ProcessHandle::destroyForcibly);
    ALIVE.remove(this);
    directory.close();
  }

  /** With the options that this JVM was given. */
  private static List<String> java(String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", classPath(), mainClass));
    command.addAll(arguments);
    return command;
  }

  /** The child works elsewhere. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .reduce((all, entry) -> all + File.pathSeparator + entry)
        .orElseThrow();
  }

  private static Process start(TemporaryDirectory directory, List<String> command, String input) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.path().toFile())
            .redirectError(log(directory).toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("WEIR_"));
    try {
      Process process = builder.start();
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      }
      return process;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path log(TemporaryDirectory directory) {
    return directory.path().resolve("log");
  }

  private int told() {
    // Not closed: the process may write more.
    BufferedReader lines = process.inputReader();
    return lines
        .lines()
        .map(READY::matcher)
        .filter(Matcher::find)
        .findFirst()
        .map(ready -> Integer.parseInt(ready.group(1)))
        .orElseThrow(this::ended);
  }

  private int listening(int port) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (process.isAlive() && System.nanoTime() < until) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return socket.getPort();
      } catch (IOException e) {
        LockSupport.parkNanos(LOOK_NANOS);
      }
    }
    throw ended();
  }

  private IllegalStateException ended() {
    String log;
    try {
      log = Files.readString(log(directory));
    } catch (IOException e) {
      log = e.toString();
    }
    return new IllegalStateException(
        process.info().command().orElse("a server") + " does not answer: " + log);
  }

  /** A port that nothing listens on, which something else may do any time. */
  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
