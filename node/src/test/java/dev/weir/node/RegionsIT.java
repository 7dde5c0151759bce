package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two regions, each a node in a process of its own with a Redis of its own, that exchange weights
 * as the page on regions has it configured.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RegionsIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String TOKEN = "between-regions";

  /** The plan of the page's example. */
  private static final String PLAN = "gold";

  private static final double RATE = 100;
  private static final double CAPACITY = 100;

  @TempDir static Path directory;

  private final int euAdmin = FreePorts.next();
  private final int usAdmin = FreePorts.next();
  private RedisServer euRedis;
  private RedisServer usRedis;
  private RunningNode eu;
  private RunningNode us;

  @BeforeAll
  void start() throws IOException {
    Files.writeString(directory.resolve("plans.yaml"), example());
    euRedis = RedisServer.start();
    usRedis = RedisServer.start();
    eu = launch("eu", euAdmin, "us", usAdmin, euRedis);
    us = launch("us", usAdmin, "eu", euAdmin, usRedis);
    eu.awaitReady();
    us.awaitReady();
  }

  @AfterAll
  void stop() {
    if (us != null) {
      us.close();
    }
    eu.close();
    usRedis.close();
    euRedis.close();
  }

  /** The plans file of the page. */
  private static String example() throws IOException {
    String page = Files.readString(Repository.root().resolve("docs/regions.md"));
    Matcher block = Pattern.compile("(?ms)^```yaml\\n(.*?)^```$").matcher(page);
    assertThat(block.find()).as("an example").isTrue();
    return block.group(1);
  }

  private RunningNode launch(
      String region, int admin, String peer, int peerAdmin, RedisServer redis) {
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_ADMIN_PORT", Integer.toString(admin));
    settings.put("WEIR_STORE", redis.url());
    settings.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    settings.put("WEIR_PLANS", directory.resolve("plans.yaml").toString());
    settings.put("WEIR_DATA_DIR", directory.resolve(region).toString());
    settings.put("WEIR_REGION", region);
    settings.put("WEIR_REGION_PEERS", peer + "=http://127.0.0.1:" + peerAdmin);
    settings.put("WEIR_REGION_TOKEN", TOKEN);
    return RunningNode.launch(directory, settings, List.of("start"));
  }

  private static double weight(RunningNode node) {
    return node.client().adminGet("/cluster").json().getJsonObject("weights").getDouble(PLAN);
  }

  /** Weight comes to eu alone here, so it is read first there: the sum may be less, never more. */
  private void assertTogetherAtMostAll() {
    double atEu = weight(eu);
    assertThat(atEu + weight(us)).isLessThanOrEqualTo(1 + 1e-9);
  }

  @Test
  void weightFollowsTheTrafficAndIsNeverMoreThanAllTogether() {
    assertThat(weight(eu) + weight(us)).isEqualTo(1);
    double before = weight(eu);

    try (Traffic traffic =
        Traffic.start(List.of(eu.client()), List.of(new Traffic.Demand("everyone", PLAN, 300)))) {
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                assertTogetherAtMostAll();
                assertThat(weight(eu)).isGreaterThanOrEqualTo(before + 0.1);
              });

      // The peer stands still: what it has is its own, what it was asked for is not there.
      us.suspend();
      await().atMost(PATIENCE).until(() -> eu.client().metric("weir_region_peer_up") == 0);
      double alone = weight(eu);
      us.resume();
      assertThat(alone + weight(us)).isLessThanOrEqualTo(1 + 1e-9);

      // Killed at once and started again, it has what it had given away no more.
      us.kill();
      us = launch("us", usAdmin, "eu", euAdmin, usRedis);
      us.awaitReady();
      assertTogetherAtMostAll();
      assertThat(weight(us)).isLessThanOrEqualTo(1 - before - 0.1 + 1e-9);

      Traffic.Tally tally = traffic.tally();
      assertThat(tally.errors()).as("%s", tally).isEmpty();
      assertThat(tally.burst(RATE)).as("%s", tally).isLessThanOrEqualTo(CAPACITY);
      assertThat((double) tally.admitted()).isLessThanOrEqualTo(CAPACITY + RATE * tally.seconds());
    }
    assertThat(eu.client().adminGet("/audit").body()).contains("move_weights", "region:us");
    assertThat(eu.log()).anyMatch(line -> line.contains("region us does not answer"));
    assertThat(String.join("\n", eu.log())).doesNotContain(TOKEN);
  }

  @Test
  void onlyTheTokenOfTheRegionsOpensTheExchange() throws Exception {
    for (String token : List.of("", "Bearer wrong", TOKEN)) {
      assertThat(exchange(token)).as(token).isEqualTo(401);
    }
    assertThat(exchange("Bearer " + TOKEN)).isEqualTo(200);
  }

  private int exchange(String authorization) throws IOException, InterruptedException {
    String question =
        new JsonObject()
            .put("region", "us")
            .put("plans", new JsonObject())
            .put("received", new JsonObject())
            .encode();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + euAdmin + "/regions/exchange"))
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .header("Authorization", authorization)
            .POST(HttpRequest.BodyPublishers.ofString(question))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }
}
