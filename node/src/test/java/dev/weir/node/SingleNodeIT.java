package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a node starts, and how it ends. */
final class SingleNodeIT {

  @TempDir Path directory;

  private final Map<String, String> settings = RunningNode.settings();

  @Test
  void readyLineOffersACheckThatWorks() throws Exception {
    try (RunningNode node = start()) {
      String ready = node.awaitReady();
      assertThat(ready).contains(node.client().data().toString(), node.client().admin().toString());
      String curl = ready.substring(ready.indexOf("curl "));

      Process process =
          new ProcessBuilder("bash", "-c", curl + " --silent --fail --max-time 20")
              .redirectErrorStream(true)
              .start();
      String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(answer).isZero();
      assertThat(answer).contains("\"allowed\":true");
    }
  }

  @Test
  void readyLineIsTheOnlyOneOnStandardOutput() {
    try (RunningNode node = start()) {
      node.awaitReady();
      assertThat(node.client().check("anyone").status()).isEqualTo(200);
      assertThat(node.terminate()).isZero();
      assertThat(node.output()).singleElement().asString().startsWith("weir ready");
    }
  }

  @Test
  void sigtermEndsItWithZero() {
    try (RunningNode node = start()) {
      node.awaitReady();
      assertThat(node.client().check("anyone").status()).isEqualTo(200);
      assertThat(node.terminate()).isZero();
      assertThat(node.log()).noneMatch(line -> line.contains("Exception"));
    }
  }

  @Test
  void builtInPlansAnswerAtOnce() {
    try (RunningNode node = start()) {
      node.awaitReady();
      assertThat(node.client().adminGet("/plans").status()).isEqualTo(200);
      assertThat(node.client().check("anyone").json().getString("plan")).isNotBlank();
    }
  }

  @Test
  void flagsAreStrongerThanEnvironmentAndEnvironmentThanFile() throws IOException {
    int inFlag = FreePorts.next();
    int inEnvironment = FreePorts.next();
    int inFile = FreePorts.next();
    Files.writeString(
        directory.resolve("weir.yaml"),
        "http: {host: 127.0.0.1, port: %d}%nadmin: {port: %d}%nregion: file%n"
            .formatted(inFile, inFile));
    settings.put("WEIR_HTTP_PORT", Integer.toString(inEnvironment));
    settings.put("WEIR_ADMIN_PORT", Integer.toString(inEnvironment));
    try (RunningNode node = start("--admin.port=" + inFlag)) {
      assertThat(node.awaitReady())
          .contains("127.0.0.1:" + inEnvironment, "127.0.0.1:" + inFlag)
          .doesNotContain(":" + inFile);
    }
  }

  @Test
  void unknownSettingInTheFileStopsIt() throws IOException {
    Files.writeString(directory.resolve("weir.yaml"), "http: {prot: 8080}\n");
    assertStops("http.prot");
  }

  @Test
  void unknownEnvironmentVariableIsOnlyAWarning() {
    settings.put("WEIR_SERVICE_HOST", "10.0.0.1");
    try (RunningNode node = start()) {
      node.awaitReady();
      assertThat(node.log()).anyMatch(line -> line.contains("WEIR_SERVICE_HOST"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "WEIR_HTTP_PORT, eighty",
    "WEIR_HTTP_PORT, 65536",
    "WEIR_ADMIN_PORT, -1",
    "WEIR_STORE, mysql://localhost",
    "WEIR_STORE_TIMEOUT, soon",
    "WEIR_TOLERANCE, 2",
    "WEIR_ACCURACY_WINDOW, 0s",
    "WEIR_MAX_KEYS, 0",
    "WEIR_CLUSTER, maybe",
    "WEIR_TRUSTED_PROXIES, here",
  })
  void badValueInTheEnvironmentStopsIt(String name, String value) {
    settings.put(name, value);
    assertStops(name);
  }

  @Test
  void badValueInAFlagStopsIt() {
    assertStops("http.port", "--http.port=eighty");
  }

  @Test
  void unknownFlagStopsIt() {
    assertStops("--htpp.port", "--htpp.port=8080");
  }

  @Test
  void takenHttpPortStopsIt() throws IOException {
    try (ServerSocket taken = listen()) {
      settings.put("WEIR_HTTP_PORT", Integer.toString(taken.getLocalPort()));
      assertStops(Integer.toString(taken.getLocalPort()));
    }
  }

  @Test
  void takenAdminPortStopsIt() throws IOException {
    try (ServerSocket taken = listen()) {
      settings.put("WEIR_ADMIN_PORT", Integer.toString(taken.getLocalPort()));
      assertStops(Integer.toString(taken.getLocalPort()));
    }
  }

  @Test
  void takenClusterPortStopsIt() throws IOException {
    try (ServerSocket taken = listen()) {
      settings.put("WEIR_CLUSTER", "on");
      settings.put("WEIR_STORE", "redis://127.0.0.1:" + FreePorts.next());
      settings.put("WEIR_CLUSTER_PORT", Integer.toString(taken.getLocalPort()));
      assertStops(Integer.toString(taken.getLocalPort()));
    }
  }

  @Test
  void missingPlansFileStopsIt() {
    settings.put("WEIR_PLANS", "no-such-plans.yaml");
    assertStops("no-such-plans.yaml");
  }

  @Test
  void badPlansFileStopsItWithEveryError() throws IOException {
    Path plans = directory.resolve("plans.yaml");
    Files.writeString(
        plans,
        """
        default_plan: missing
        plans:
          free: {rate: -1, period: 1m, capacity: 100}
          gold: {rate: 100, period: soon, capacity: 100}
        keys: {acme: silver}
        """);
    settings.put("WEIR_PLANS", plans.toString());
    List<String> errors = stopsWith();
    for (String culprit : List.of("plans.free", "plans.gold", "default_plan", "keys.acme")) {
      assertThat(errors).as("standard error").filteredOn(e -> e.contains(culprit)).hasSize(1);
    }
    assertThat(errors).hasSize(4).allMatch(e -> e.contains("plans.yaml"));
  }

  @Test
  void plansFileThatIsNoYamlStopsIt() throws IOException {
    Path plans = directory.resolve("plans.yaml");
    Files.writeString(plans, "plans: {free: [\n");
    settings.put("WEIR_PLANS", plans.toString());
    assertStops("plans.yaml");
  }

  @Test
  void clusterOnTheEmbeddedStoreStopsIt() {
    settings.put("WEIR_CLUSTER", "on");
    assertStops("cluster");
  }

  @Test
  void openAdminAddressWithoutTokenStopsIt() {
    settings.put("WEIR_ADMIN_HOST", "0.0.0.0");
    assertStops("admin.token");
  }

  @Test
  void adminTokenIsAskedFor() {
    settings.put("WEIR_ADMIN_TOKEN", "s3cret");
    try (RunningNode node = start()) {
      node.awaitReady();
      assertThat(node.client().adminGet("/plans").status()).isEqualTo(401);
      assertThat(node.client().adminPut("/limits/p", "{}").status()).isEqualTo(401);
      assertThat(node.client().check("anyone").status()).isEqualTo(200);
      assertThat(node.log()).noneMatch(line -> line.contains("s3cret"));
    }
  }

  private RunningNode start(String... flags) {
    List<String> arguments = new ArrayList<>(List.of("start"));
    arguments.addAll(List.of(flags));
    return RunningNode.launch(directory, settings, arguments);
  }

  /** It exits with 2, and its one line speaks of {@code culprit}. */
  private void assertStops(String culprit, String... flags) {
    assertThat(stopsWith(flags)).singleElement().asString().contains(culprit);
  }

  /** It exits with 2, and its errors, a line each, are all it says. */
  private List<String> stopsWith(String... flags) {
    List<String> arguments = new ArrayList<>(List.of("start"));
    arguments.addAll(List.of(flags));
    RunningNode.Exit exit = RunningNode.run(directory, settings, arguments.toArray(String[]::new));
    assertThat(exit.code()).as(String.join("\n", exit.err())).isEqualTo(2);
    assertThat(exit.out()).isEmpty();
    assertThat(exit.err()).allMatch(line -> line.startsWith("weir: "));
    return exit.err();
  }

  private static ServerSocket listen() throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    return socket;
  }
}
