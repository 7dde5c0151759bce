package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes with the environment of the pods in {@code deploy/kubernetes}, each at an address of its
 * own that a name has. It takes Linux, where all of 127.0.0.0/8 is this machine.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DeployIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern METRIC = Pattern.compile("\\b(?:weir|vertx)_[a-z0-9_]+");
  private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `(weir_[a-z0-9_]+)");

  @TempDir static Path directory;

  private final String clusterPort = Integer.toString(FreePorts.next());
  private RedisServer redis;
  private RunningNode first;

  @BeforeAll
  void start() throws IOException {
    Files.writeString(
        directory.resolve("hosts"),
        """
        127.0.0.1 localhost
        127.0.0.1 weir-nodes
        127.0.0.2 weir-nodes
        127.0.0.3 weir-nodes
        """);
    redis = RedisServer.start();
    first = launch("127.0.0.1");
    first.awaitReady();
  }

  @AfterAll
  void stop() {
    if (first != null) {
      first.close();
    }
    redis.close();
  }

  @Test
  void nodesThatComeAndGoFindEachOtherByAName() {
    try (RunningNode second = launch("127.0.0.2");
        RunningNode third = launch("127.0.0.3")) {
      second.awaitReady();
      third.awaitReady();
      Stream.of(first, second, third).forEach(node -> awaitCount(node, 3));

      assertThat(third.terminate()).isZero();

      Stream.of(first, second).forEach(node -> awaitCount(node, 2));
    }
  }

  @Test
  void everyMetricThatDashboardAndAlertsAskForIsThere() {
    Set<String> asked =
        Stream.concat(Dashboard.queries().stream(), alertQueries())
            .flatMap(query -> names(METRIC, query))
            .collect(Collectors.toSet());
    assertThat(asked).contains("weir_decisions_total", "weir_store_call_seconds_bucket");
    assertThat(first.client().check("anyone").status()).isEqualTo(200);

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(scraped()).containsAll(asked));
  }

  @Test
  void everyMetricOfADocumentedNameIsThereAndOfWeirNoOther() throws IOException {
    Set<String> documented =
        names(DOCUMENTED, Files.readString(Repository.root().resolve("docs/operations.md")))
            .collect(Collectors.toSet());
    assertThat(first.client().check("anyone").status()).isEqualTo(200);

    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(
                        scraped().stream()
                            .filter(name -> name.startsWith("weir_"))
                            .map(name -> name.replaceFirst("_(count|sum|max|bucket)$", ""))
                            .collect(Collectors.toSet()))
                    .isEqualTo(documented));
  }

  private RunningNode launch(String address) {
    Map<String, String> settings = RunningNode.settings();
    Map<String, String> pod = DeployFiles.podEnvironment(address, redis.url());
    // On the loopback address the control plane takes no token.
    pod.remove("WEIR_ADMIN_HOST");
    pod.remove("WEIR_ADMIN_TOKEN");
    pod.put("WEIR_PLANS", DeployFiles.DIRECTORY.resolve("kubernetes/plans.yaml").toString());
    pod.put("WEIR_CLUSTER_PORT", clusterPort);
    // For the metric of it; nothing is asked of it without a table of regions.
    pod.put("WEIR_REGION_PEERS", "elsewhere=http://127.0.0.1:" + FreePorts.next());
    pod.put("WEIR_REGION_TOKEN", "r3gion");
    pod.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    pod.merge(
        "JAVA_OPTS",
        "-Xmx256m -Djdk.net.hosts.file=" + directory.resolve("hosts"),
        (flags, more) -> flags + " " + more);
    settings.putAll(pod);
    return RunningNode.launch(RunningNode.scratchDirectory(), settings, List.of("start"));
  }

  private static Stream<String> alertQueries() {
    return DeployFiles.objects(
            DeployFiles.document("alerts/weir.rules.yml")
                .getJsonArray("groups")
                .getJsonObject(0)
                .getJsonArray("rules"))
        .map(rule -> rule.getString("expr"));
  }

  private static void awaitCount(RunningNode node, int count) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(node.client().nodes()).isEqualTo(count));
  }

  /** The names of all samples that the first node gives. */
  private Set<String> scraped() {
    return names(
            Pattern.compile("(?m)^[a-z][a-z0-9_]*"), first.client().adminGet("/metrics").body())
        .collect(Collectors.toSet());
  }

  /** Group 1 of the pattern, or all of it if it has none. */
  private static Stream<String> names(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map((MatchResult found) -> found.group(found.groupCount()));
  }
}
