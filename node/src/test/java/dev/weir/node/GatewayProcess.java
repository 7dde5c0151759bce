package dev.weir.node;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A gateway with its configuration from {@code deploy/gateways}, of which nothing but ports and
 * paths is changed. It dies with this JVM.
 */
final class GatewayProcess implements AutoCloseable {

  enum Kind {
    NGINX("nginx"),
    CADDY("caddy"),
    HAPROXY("haproxy");

    private final String program;

    Kind(String program) {
      this.program = program;
    }

    /** Where it is installed; daemons often are where only root looks. */
    Optional<Path> executable() {
      return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin"))
          .map(directory -> Path.of(directory, program))
          .filter(Files::isExecutable)
          .findFirst();
    }
  }

  private static final Set<Process> ALIVE = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> ALIVE.forEach(Process::destroy), "end-gateways"));
  }

  private final Path directory;
  private final int port = FreePorts.next();
  private final int weirPort;
  private final int applicationPort;
  private final Process process;

  /** Starts it, and waits for it to listen. */
  GatewayProcess(Kind kind, int weirPort, int applicationPort) {
    this.weirPort = weirPort;
    this.applicationPort = applicationPort;
    directory = RunningNode.scratchDirectory();
    String program = kind.executable().orElseThrow().toString();
    try {
      // Started by root, nginx works as somebody else.
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
      process =
          switch (kind) {
            case NGINX -> nginx(program);
            case CADDY -> caddy(program);
            case HAPROXY -> haproxy(program);
          };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    ALIVE.add(process);
    await().atMost(30, SECONDS).until(() -> !process.isAlive() || listens());
    if (!process.isAlive()) {
      throw new AssertionError(program + " has ended:\n" + log());
    }
  }

  int port() {
    return port;
  }

  /** What it has written so far. */
  String log() {
    try {
      return Files.readString(directory.resolve("log"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
    ALIVE.remove(process);
  }

  private Process nginx(String program) throws IOException {
    String temporary =
        Stream.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            .map(name -> name + "_temp_path " + directory.resolve(name) + ";\n")
            .reduce("access_log off;\n", String::concat);
    configure(
        "nginx.conf",
        Map.ofEntries(
            Map.entry("listen 8000", "listen 127.0.0.1:" + port),
            Map.entry("http {", "http {\n" + temporary),
            // Patient, as the nodes of these tests are: a busy machine is not what they try.
            Map.entry("proxy_connect_timeout 1s", "proxy_connect_timeout 30s"),
            Map.entry("proxy_read_timeout 1s", "proxy_read_timeout 30s"),
            toWeir(),
            toApplication()));
    return start(
        program,
        "-p",
        directory.toString(),
        "-c",
        directory.resolve("nginx.conf").toString(),
        "-g",
        "daemon off; error_log stderr; pid " + directory.resolve("pid") + ";");
  }

  private Process caddy(String program) throws IOException {
    configure(
        "Caddyfile",
        Map.ofEntries(
            Map.entry(":8000 {", "{\nadmin off\n}\nhttp://:" + port + " {\nbind 127.0.0.1"),
            toWeir(),
            toApplication()));
    return start(program, "run", "--adapter", "caddyfile", "--config", directory + "/Caddyfile");
  }

  private Process haproxy(String program) throws IOException {
    configure(
        "weir.lua", Map.ofEntries(Map.entry("TIMEOUT_MS = 1000", "TIMEOUT_MS = 30000"), toWeir()));
    configure(
        "haproxy.cfg",
        Map.ofEntries(
            Map.entry("bind :8000", "bind 127.0.0.1:" + port),
            Map.entry("/etc/haproxy/weir.lua", directory + "/weir.lua"),
            toApplication()));
    return start(program, "-db", "-f", directory + "/haproxy.cfg");
  }

  private void configure(String file, Map<String, String> changes) throws IOException {
    String text = shipped(file);
    for (Map.Entry<String, String> change : changes.entrySet()) {
      if (text.split(Pattern.quote(change.getKey()), -1).length != 2) {
        throw new AssertionError(change.getKey() + " must be there once in\n" + text);
      }
      text = text.replace(change.getKey(), change.getValue());
    }
    Files.writeString(directory.resolve(file), text);
  }

  private static String shipped(String file) throws IOException {
    String text = Files.readString(Repository.root().resolve("deploy/gateways").resolve(file));
    // Not in what is meant for people.
    return text.lines()
        .filter(line -> !line.strip().startsWith("#"))
        .reduce("", (all, line) -> all + line + "\n");
  }

  private Map.Entry<String, String> toWeir() {
    return Map.entry("127.0.0.1:8080", "127.0.0.1:" + weirPort);
  }

  private Map.Entry<String, String> toApplication() {
    return Map.entry("127.0.0.1:9000", "127.0.0.1:" + applicationPort);
  }

  private Process start(String... command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(List.of(command))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile());
    // Caddy keeps things in its user's home.
    builder.environment().put("HOME", directory.toString());
    builder.environment().put("XDG_DATA_HOME", directory.toString());
    builder.environment().put("XDG_CONFIG_HOME", directory.toString());
    return builder.start();
  }

  private boolean listens() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
