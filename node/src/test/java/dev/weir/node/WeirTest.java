package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limiter as a library: a whole node in a Vert.x that the application made. */
class WeirTest {

  @TempDir Path directory;
  private Vertx vertx;

  /** Held, since Vert.x closes a client that nobody refers to any more. */
  private HttpClientAgent http;

  @BeforeEach
  void makeVertx() {
    vertx = Vertx.vertx();
    http = vertx.createHttpClient();
  }

  @AfterEach
  void closeVertx() {
    get(vertx.close());
  }

  @Test
  void oneNodeDecidesForItsJvmAndForCallersOverHttpAlike() throws IOException {
    Weir weir = get(Weir.deploy(vertx, settings("{rate: 1, period: 1h, capacity: 5}")));

    Decision first = get(weir.limiter().check(CheckRequest.of("acme").withCost(3)));
    JsonObject second = call(weir.httpPort(), HttpMethod.GET, "/v1/check?key=acme&cost=3");
    JsonObject third = call(weir.httpPort(), HttpMethod.GET, "/v1/check?key=acme&cost=2");

    assertThat(first.allowed()).isTrue();
    assertThat(second.getBoolean("allowed")).isFalse();
    assertThat(third.getBoolean("allowed")).isTrue();
    assertThat(call(weir.adminPort(), HttpMethod.GET, "/limits/acme").getLong("remaining"))
        .isZero();
  }

  @Test
  void aChangeOfAPlanIsInForceAtOnce() throws IOException {
    Weir weir = get(Weir.deploy(vertx, settings("{rate: 1, period: 1h, capacity: 100}")));
    get(weir.limiter().check(CheckRequest.of("acme").withCost(60)));

    call(
        weir.adminPort(),
        HttpMethod.PUT,
        "/limits/free",
        "{\"rate\":1,\"period\":\"1h\",\"capacity\":200}");

    assertThat(get(weir.limiter().check(CheckRequest.of("acme").withCost(0))).remaining())
        .isEqualTo(140);
  }

  @Test
  void aStoreOutOfReachIsNoReasonNotToStart() throws IOException {
    Settings settings =
        settings(
            "{rate: 10, period: 1s, capacity: 10}", Map.of("store.url", "redis://127.0.0.1:1"));

    Weir weir = get(Weir.deploy(vertx, settings));

    Decision decision = get(weir.limiter().check(CheckRequest.of("acme")));
    assertThat(decision.allowed()).isTrue();
    assertThat(decision.degraded()).isTrue();
    assertThat(call(weir.adminPort(), HttpMethod.GET, "/health/ready").getString("store"))
        .isEqualTo("down");
    assertThat(scrape(weir)).contains("weir_nodes 1.0", "weir_store_up 0.0", "weir_degraded 1.0");
  }

  @Test
  void alertsAreOnMetricsThatThereAre() throws IOException {
    // Of a Redis, whether it is there or not; the store inside a node has fewer.
    Map<String, String> away =
        Map.of(
            "store.url",
            "redis://127.0.0.1:" + FreePorts.next(),
            "region_peers",
            "us=http://127.0.0.1:" + FreePorts.next(),
            "region_token",
            "r3gion");
    Weir weir = get(Weir.deploy(vertx, settings("{rate: 1, period: 1h, capacity: 5}", away)));

    String metrics = scrape(weir);
    Path rules = Repository.root().resolve("deploy/alerts/weir.rules.yml");
    assertThat(
            Files.readString(rules)
                .lines()
                .filter(line -> line.strip().startsWith("expr:"))
                .flatMap(line -> Pattern.compile("weir_[a-z_]+").matcher(line).results())
                .map(MatchResult::group))
        .isNotEmpty()
        .allSatisfy(name -> assertThat(metrics).containsPattern("(?m)^" + name + "[{ ]"));
  }

  @Test
  void whenItStopsNothingOfItStays() throws IOException {
    Weir weir = get(Weir.deploy(vertx, settings("{rate: 1, period: 1h, capacity: 5}")));

    get(weir.stop());

    assertThat(vertx.deploymentIDs()).isEmpty();
  }

  @Test
  void whatWasDeployedBeforeAFailureIsTakenAway() {
    Settings settings =
        Settings.of(
            Map.of(
                "http.host",
                "127.0.0.1",
                "http.port",
                "0",
                "admin.host",
                "192.0.2.1",
                "admin.port",
                "0",
                "admin.token",
                "t"));

    assertThatThrownBy(() -> get(Weir.deploy(vertx, settings)))
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(SettingsRefusedException.class);
    assertThat(vertx.deploymentIDs()).isEmpty();
  }

  @Test
  void aNodeOfNoRegionOfThePlansIsRefused() throws IOException {
    Path plans = directory.resolve("divided.yaml");
    Files.writeString(
        plans, "plans: {p: {rate: 1}}\nregions: {eu: {weight: 0.6}, us: {weight: 0.4}}");
    Settings settings =
        Settings.of(
            Map.of(
                "region",
                "ap",
                "plans",
                plans.toString(),
                "data_dir",
                directory.resolve("data").toString()));
    assertThatThrownBy(() -> get(Weir.deploy(vertx, settings)))
        .hasCauseInstanceOf(SettingsRefusedException.class)
        .hasMessageContaining("region: must be one of the regions of the plans, eu, us, was 'ap'");
  }

  @Test
  void aNodeWhoseDataDirIsOfAnotherRegionIsRefused() throws IOException {
    Path plans = directory.resolve("divided.yaml");
    Files.writeString(
        plans, "plans: {p: {rate: 1}}\nregions: {eu: {weight: 0.6}, us: {weight: 0.4}}");
    Map<String, String> more = Map.of("plans", plans.toString(), "plans_authoritative", "on");
    Weir eu = get(Weir.deploy(vertx, divided("eu", more)));
    get(eu.stop());

    assertThatThrownBy(() -> get(Weir.deploy(vertx, divided("us", more))))
        .hasCauseInstanceOf(SettingsRefusedException.class)
        .hasMessageContaining(
            "region: must be 'eu', which the cluster or data_dir is of, was 'us'");
    get(Weir.deploy(vertx, divided("eu", more)));
  }

  private Settings divided(String region, Map<String, String> more) {
    Map<String, String> texts = new HashMap<>(more);
    texts.put("region", region);
    texts.put("http.port", "0");
    texts.put("http.host", "127.0.0.1");
    texts.put("admin.port", "0");
    texts.put("data_dir", directory.resolve("data").toString());
    return Settings.of(texts);
  }

  @Test
  void aClusterNeedsAVertxThatIsClustered() {
    Settings settings =
        Settings.of(Map.of("cluster.enabled", "on", "store.url", "redis://127.0.0.1:1"));

    assertThatThrownBy(() -> get(Weir.deploy(vertx, settings)))
        .hasRootCauseMessage(
            "cluster.enabled: must be off in a Vert.x that Hazelcast does not cluster");
  }

  @Test
  void aDeploymentThatFailsLeavesTheTimersOfOthersAlone() {
    Settings settings =
        Settings.of(Map.of("cluster.enabled", "on", "store.url", "redis://127.0.0.1:1"));
    long first = vertx.setTimer(TimeUnit.HOURS.toMillis(1), id -> {});

    assertThatThrownBy(() -> get(Weir.deploy(vertx, settings)))
        .hasCauseInstanceOf(SettingsRefusedException.class);
    assertThat(vertx.cancelTimer(first)).isTrue();
  }

  private Settings settings(String free) throws IOException {
    return settings(free, Map.of());
  }

  private Settings settings(String free, Map<String, String> more) throws IOException {
    Path plans = directory.resolve("plans.yaml");
    Files.writeString(plans, "default_plan: free\nplans: {free: " + free + "}\n");
    Map<String, String> texts = new HashMap<>(more);
    texts.put("http.host", "127.0.0.1");
    texts.put("http.port", "0");
    texts.put("admin.port", "0");
    texts.put("plans", plans.toString());
    texts.put("data_dir", directory.resolve("data").toString());
    return Settings.of(texts);
  }

  private String scrape(Weir weir) {
    return get(
        http.request(HttpMethod.GET, weir.adminPort(), "127.0.0.1", "/metrics")
            .compose(request -> request.send())
            .compose(response -> response.body())
            .map(body -> body.toString()));
  }

  private JsonObject call(int port, HttpMethod method, String path) {
    return call(port, method, path, "");
  }

  private JsonObject call(int port, HttpMethod method, String path, String body) {
    return get(
        http.request(method, port, "127.0.0.1", path)
            .compose(request -> request.putHeader("Content-Type", "application/json").send(body))
            .compose(response -> response.body())
            .map(answer -> answer.length() == 0 ? new JsonObject() : new JsonObject(answer)));
  }

  private static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }
}
