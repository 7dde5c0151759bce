package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The alert rules, as {@code promtool} of Prometheus sees them, where it is installed. */
final class AlertsTest {
  private static final Path ALERTS = Repository.root().resolve("deploy/alerts");
  private static final String RULES = "weir.rules.yml";
  private static final String TESTS = "weir.test.yml";

  @Test
  void prometheusTakesTheRules() throws IOException {
    promtool("check", "rules", RULES);
  }

  @Test
  void alertsFireWhenTheyShouldAndNotBefore() throws IOException {
    promtool("test", "rules", TESTS);
  }

  @Test
  void everyAlertIsTested() throws IOException {
    assertThat(alerts(TESTS, "alertname: (\\w+)"))
        .isNotEmpty()
        .isEqualTo(alerts(RULES, "- alert: (\\w+)"));
  }

  private static Set<String> alerts(String file, String pattern) throws IOException {
    return Pattern.compile(pattern)
        .matcher(Files.readString(ALERTS.resolve(file)))
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toSet());
  }

  private static void promtool(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(ALERTS.toFile()).redirectErrorStream(true);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      Assumptions.abort("promtool is not installed: " + e.getMessage());
      return;
    }
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.onExit().join().exitValue()).as(told).isZero();
  }
}
