package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The alert rules, as {@code promtool} of Prometheus sees them, where it is installed. */
final class AlertsTest {
  private static final Path ALERTS = Repository.root().resolve("deploy/alerts");
  private static final String RULES = "weir.rules.yml";
  private static final String TESTS = "weir.test.yml";

  @Test
  void prometheusTakesTheRules() throws IOException {
    Promtool.accepts(ALERTS, "check", "rules", RULES);
  }

  @Test
  void alertsFireWhenTheyShouldAndNotBefore() throws IOException {
    Promtool.accepts(ALERTS, "test", "rules", TESTS);
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
}
