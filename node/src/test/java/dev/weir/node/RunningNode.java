package dev.weir.node;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A node in a process of its own, started by the launcher script as a user would start it, with the
 * Java that runs the tests. It listens on the loopback address only, and dies with this JVM.
 */
final class RunningNode implements AutoCloseable {

  /** How a process ended that was not meant to stay. */
  record Exit(int code, List<String> out, List<String> err) {}

  /**
   * For tests of numbers that only the store's word makes exact: a machine that is busy with the
   * rest of the tests may well keep an answer of the store from its node for 5 ms.
   */
  static final String PATIENT_STORE_TIMEOUT = "2s";

  private static final int START_SECONDS = 60;

  /** Some commands wait for windows to be sealed, or for what others have yet to do. */
  private static final int RUN_SECONDS = 300;

  private static final int STOP_SECONDS = 60;

  private static final Set<Process> ALIVE = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> ALIVE.forEach(Process::destroyForcibly), "kill-nodes"));
  }

  private final Process process;
  private final List<String> out = new CopyOnWriteArrayList<>();
  private final List<String> err = new CopyOnWriteArrayList<>();
  private final CompletableFuture<String> readyLine = new CompletableFuture<>();
  private final Thread outReader;
  private final Thread errReader;
  private final URI data;
  private final URI admin;

  private RunningNode(Path directory, Map<String, String> settings, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Repository.root().resolve("weir").toString());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEIR_"));
    Path javaHome = Path.of(System.getProperty("java.home"));
    environment.put("JAVA_HOME", javaHome.toString());
    environment.put("PATH", javaHome.resolve("bin") + ":" + environment.get("PATH"));
    // Several nodes share one machine in these tests.
    environment.put("JAVA_OPTS", "-Xmx256m");
    environment.putAll(settings);
    data = loopback(settings.get("WEIR_HTTP_PORT"));
    admin = loopback(settings.get("WEIR_ADMIN_PORT"));
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ALIVE.add(process);
    outReader =
        read(
            process.getInputStream(),
            line -> {
              out.add(line);
              if (line.startsWith("weir ready")) {
                readyLine.complete(line);
              }
            });
    errReader = read(process.getErrorStream(), err::add);
    var unused =
        process
            .onExit()
            .thenAccept(
                p -> {
                  ALIVE.remove(p);
                  readyLine.completeExceptionally(
                      new IllegalStateException("exited with " + p.exitValue()));
                });
  }

  /**
   * Settings of a node that takes nothing from its neighbours: free ports of the loopback address.
   * More may be put into the map.
   */
  static Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put("WEIR_HTTP_HOST", "127.0.0.1");
    settings.put("WEIR_HTTP_PORT", Integer.toString(FreePorts.next()));
    settings.put("WEIR_ADMIN_PORT", Integer.toString(FreePorts.next()));
    return settings;
  }

  /** A node on the embedded store that answers. */
  static RunningNode start() {
    return start(settings());
  }

  /** A node with {@code settings} that answers. */
  static RunningNode start(Map<String, String> settings) {
    RunningNode node = launch(scratchDirectory(), settings, List.of("start"));
    node.awaitReady();
    return node;
  }

  /** A node that has been started in {@code directory}, and may not answer yet. */
  static RunningNode launch(Path directory, Map<String, String> settings, List<String> arguments) {
    return new RunningNode(directory, settings, arguments);
  }

  /** Runs the launcher in {@code directory} to its end, which must come by itself. */
  static Exit run(Path directory, Map<String, String> settings, String... arguments) {
    try (RunningNode node = launch(directory, settings, List.of(arguments))) {
      int code = node.awaitExit(RUN_SECONDS);
      return new Exit(code, List.copyOf(node.out), List.copyOf(node.err));
    }
  }

  static Path scratchDirectory() {
    try {
      Path directory = Files.createTempDirectory("weir-node");
      directory.toFile().deleteOnExit();
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the line that says that it answers; fails with what it said instead. */
  String awaitReady() {
    try {
      return readyLine.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      kill();
      throw new AssertionError(
          "node is not ready: " + e.getMessage() + "\n" + String.join("\n", err), e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** What it has written to standard error so far. */
  List<String> log() {
    return List.copyOf(err);
  }

  /** What it has written to standard output so far. */
  List<String> output() {
    return List.copyOf(out);
  }

  /** Where its data plane and its control plane are asked. */
  NodeClient client() {
    return new NodeClient(data, admin);
  }

  long pid() {
    return process.pid();
  }

  /** Sends SIGTERM and gives the code that the process then exits with. */
  int terminate() {
    signal(process.toHandle()::destroy);
    return awaitExit(STOP_SECONDS);
  }

  /** Sends SIGKILL. */
  void kill() {
    signal(process.toHandle()::destroyForcibly);
    int unused = awaitExit(STOP_SECONDS);
  }

  /** Sends SIGSTOP: it stands still, while its connections stay open. */
  void suspend() {
    send("STOP");
  }

  /** Sends SIGCONT. */
  void resume() {
    send("CONT");
  }

  private void send(String signal) {
    try {
      int code =
          new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
              .start()
              .onExit()
              .join()
              .exitValue();
      if (code != 0) {
        throw new AssertionError("kill -" + signal + " failed: " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it if it still lives. */
  @Override
  public void close() {
    kill();
  }

  /** By the handle, since {@link Process#destroy} would close the streams that are read here. */
  private static void signal(BooleanSupplier request) {
    // Not sent to a process that has ended already, which is as well.
    boolean unused = request.getAsBoolean();
  }

  private int awaitExit(int seconds) {
    try {
      if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("node did not end\n" + String.join("\n", err));
      }
      outReader.join(TimeUnit.SECONDS.toMillis(seconds));
      errReader.join(TimeUnit.SECONDS.toMillis(seconds));
      return process.exitValue();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static AssertionError interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new AssertionError(e);
  }

  private static URI loopback(String port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  private static Thread read(InputStream stream, Consumer<String> line) {
    Thread reader =
        new Thread(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                lines.lines().forEach(line);
              } catch (IOException | UncheckedIOException e) {
                line.accept("(stream ended: " + e.getMessage() + ")");
              }
            },
            "node-output");
    reader.setDaemon(true);
    reader.start();
    return reader;
  }
}
