package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Everything that the command does but run: that takes a process of its own. */
class MainTest {

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment = new HashMap<>();

  @Test
  void helpIsEverywhereAndNamesEverySetting() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("start").doesNotContain("null");
    assertThat(run("start", "--help")).isZero();
    assertThat(SettingTable.ALL)
        .allSatisfy(
            setting -> {
              assertThat(out.toString()).contains(setting.options());
              assertThat(out.toString()).contains(setting.variable());
            });
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void theVersionIsTold() {
    assertThat(run("--version")).isZero();
    assertThat(run("start", "--version")).isZero();
    assertThat(out.toString().lines()).hasSize(2).allMatch(line -> line.startsWith("weir "));
  }

  @Test
  void withoutACommandTheUsageIsShown() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).startsWith("Usage: weir");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--http.prot", "--http.prot=s3cret", "--httptoken=s3cret"})
  void anUnknownOptionIsRefusedWithoutItsValue(String option) {
    assertThat(run("start", option, "s3cret")).isEqualTo(2);
    assertThat(errors())
        .containsExactly("weir: there is no option '" + option.split("=", 2)[0] + "'; see --help");
  }

  @Test
  void anUnknownCommandIsRefused() {
    assertThat(run("strat")).isEqualTo(2);
    assertThat(errors()).containsExactly("weir: there is no command 'strat'; see --help");
  }

  @Test
  void benchmarksAreForTheLauncherToRun() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("bench");
    assertThat(run("bench")).isEqualTo(2);
    assertThat(errors())
        .containsExactly("weir: bench: is run by the launcher of a checkout, ./weir bench");
  }

  @Test
  void anOptionWithoutAValueIsRefused() {
    assertThat(run("start", "--http.port")).isEqualTo(2);
    assertThat(errors()).singleElement().asString().startsWith("weir: ").contains("--http.port");
  }

  @Test
  void optionsAreStrongerThanTheEnvironmentAndThatThanTheFile() throws IOException {
    Files.writeString(directory.resolve("weir.yaml"), "max_keys: file\n");
    assertThat(run("start")).isEqualTo(2);
    assertThat(errors())
        .containsExactly(
            "weir: max_keys: must be a whole number from 1 to 1000000000, was 'file' (from "
                + directory.resolve("weir.yaml")
                + ", line 1)");

    environment.put("WEIR_MAX_KEYS", "variable");
    assertThat(run("start")).isEqualTo(2);
    assertThat(errors())
        .containsExactly(
            "weir: max_keys: must be a whole number from 1 to 1000000000, was 'variable'"
                + " (from WEIR_MAX_KEYS)");

    for (List<String> flags :
        List.of(
            List.of("--max_keys", "flag"),
            List.of("--max_keys=flag"),
            List.of("--max-keys", "flag"),
            List.of("--max-keys=flag"))) {
      assertThat(run(withStart(flags.toArray(String[]::new)))).isEqualTo(2);
      assertThat(errors())
          .containsExactly(
              "weir: max_keys: must be a whole number from 1 to 1000000000, was 'flag'"
                  + " (from --max_keys)");
    }
  }

  @Test
  void theShortNamesOfOptionsAreTheVariables() {
    assertThat(run("start", "--store", "s3cret", "--cluster", "maybe")).isEqualTo(2);
    assertThat(errors())
        .hasSize(2)
        .anyMatch(line -> line.startsWith("weir: store.url: ") && !line.contains("s3cret"))
        .contains("weir: cluster.enabled: must be on or off, was 'maybe' (from --cluster.enabled)");
  }

  @Test
  void anotherFileMayBeNamedAndMustBeThere() throws IOException {
    Files.writeString(directory.resolve("weir.yaml"), "max_keys: file\n");
    Files.writeString(directory.resolve("other.yaml"), "htp: {port: 0}\n");

    assertThat(run("start", "--config", "other.yaml")).isEqualTo(2);
    assertThat(errors())
        .containsExactly(
            "weir: htp: is not a setting (from " + directory.resolve("other.yaml") + ", line 1)");
    assertThat(run("start", "--config=none.yaml")).isEqualTo(2);
    assertThat(errors())
        .containsExactly("weir: " + directory.resolve("none.yaml") + ": no such file");
  }

  @Test
  void aWrongPlansFileStopsTheStartWithAllItsErrors() throws IOException {
    Path plans = directory.resolve("plans.yaml");
    Files.writeString(plans, "plans: {free: {rate: -1, period: 1x, capacity: 1}}\n");

    assertThat(start("--plans", plans.toString())).isEqualTo(2);
    assertThat(errors())
        .isNotEmpty()
        .allMatch(line -> line.startsWith("weir: plans: " + plans + ": plans.free."));
    assertThat(start("--plans", directory.resolve("none.yaml").toString())).isEqualTo(2);
    assertThat(errors()).singleElement().asString().contains("none.yaml");
  }

  @Test
  void checkingAGoodPlansFileSaysOk() throws IOException {
    Files.writeString(
        directory.resolve("plans.yaml"),
        """
        plans:
          gold: {rate: 100, capacity: 1000}
          exact: {algorithm: sliding_log, limit: 10, window: 1m}
          meant: {rate: 1, period: 1m, strict: true}
          internal: {unlimited: true}
        """);

    assertThat(run("check-config", "plans.yaml")).isZero();
    assertThat(out.toString()).isEqualTo("ok" + System.lineSeparator());
    assertThat(errors()).isEmpty();
  }

  @Test
  void checkingAPlansFileTellsEveryErrorWithItsPath() throws IOException {
    Files.writeString(
        directory.resolve("plans.yaml"),
        """
        plans:
          free: {rate: -1, burst: 3}
          month: {algorithm: fixed_window, limit: 5, window: month, zone: Mars}
        keys: {acme: gold}
        defaultplan: free
        """);

    assertThat(run("check-config", "plans.yaml")).isEqualTo(2);
    assertThat(out.toString()).isEmpty();
    assertThat(errors())
        .hasSize(5)
        .allMatch(line -> line.startsWith("weir: plans.yaml: "))
        .contains(
            "weir: plans.yaml: plans.month.zone: must be a time zone like Europe/Berlin or UTC,"
                + " was 'Mars'",
            "weir: plans.yaml: keys.acme: there is no plan 'gold'");
  }

  @Test
  void checkingWarnsOfLimitsThatAreTooSmallToLease() throws IOException {
    Files.writeString(
        directory.resolve("plans.yaml"),
        """
        plans:
          small: {rate: 10, period: 1m}
          mixed:
            limits:
              - {name: large, rate: 100}
              - {name: hourly, algorithm: fixed_window, limit: 99, window: 1h}
              - {name: daily, algorithm: sliding_window, limit: 100, window: 1d}
        """);

    assertThat(run("check-config", "plans.yaml")).isZero();
    assertThat(out.toString()).isEqualTo("ok" + System.lineSeparator());
    assertThat(errors())
        .containsExactly(
            "weir: warning: plans.yaml: plans.mixed.limits[1]: admits at most 99 in 60s, too little"
                + " to lease ahead: every decision asks the store (strict: true says that this is"
                + " meant)",
            "weir: warning: plans.yaml: plans.small.limits[0]: admits at most 20 in 60s, too little"
                + " to lease ahead: every decision asks the store (strict: true says that this is"
                + " meant)");
  }

  @Test
  void checkingTakesExactlyOneFileThatIsThere() {
    assertThat(run("check-config")).isEqualTo(2);
    assertThat(errors()).singleElement().asString().startsWith("weir: ").contains("FILE");
    assertThat(run("check-config", "none.yaml")).isEqualTo(2);
    assertThat(errors()).singleElement().asString().contains("none.yaml");
    assertThat(run("check-config", "a.yaml", "b.yaml")).isEqualTo(2);
    assertThat(errors()).hasSize(1);
    assertThat(run("check-config", "--help")).isZero();
    assertThat(out.toString()).contains("weir check-config");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "admin"})
  void aTakenPortStopsTheStart(String section) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();

      assertThat(start("--" + section + ".port", Integer.toString(port))).isEqualTo(2);
      assertThat(errors())
          .singleElement()
          .asString()
          .startsWith("weir: " + section + ".port: cannot listen on 127.0.0.1:" + port + ": ")
          .contains("already in use");
    }
  }

  @Test
  void aHostThatIsNotHereStopsTheStart() {
    assertThat(start("--http.host", "192.0.2.1")).isEqualTo(2);
    assertThat(errors())
        .singleElement()
        .asString()
        .startsWith("weir: http.port: cannot listen on 192.0.2.1:0: ");
  }

  /** On free ports, where {@code settings} do not say otherwise. */
  private int start(String... settings) {
    environment.put("WEIR_HTTP_HOST", "127.0.0.1");
    environment.put("WEIR_HTTP_PORT", "0");
    environment.put("WEIR_ADMIN_PORT", "0");
    return run(withStart(settings));
  }

  private static String[] withStart(String... options) {
    return Stream.concat(Stream.of("start"), Stream.of(options)).toArray(String[]::new);
  }

  private int run(String... arguments) {
    PrintWriter outWriter = new PrintWriter(out, true);
    PrintWriter errWriter = new PrintWriter(err, true);
    return Main.run(new Surroundings(outWriter, errWriter, environment, directory), arguments);
  }

  /** Since it was last asked. */
  private List<String> errors() {
    List<String> lines = err.toString().lines().toList();
    err.getBuffer().setLength(0);
    return lines;
  }
}
