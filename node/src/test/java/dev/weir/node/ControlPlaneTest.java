package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.client.ApiContract;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.LimitPolicy;
import dev.weir.client.LimitStatus;
import dev.weir.config.Clock;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.ConfigVerticle;
import dev.weir.config.Limit;
import dev.weir.config.Membership;
import dev.weir.config.NodeStatus;
import dev.weir.config.Plan;
import dev.weir.config.PlansFile;
import dev.weir.config.Seed;
import dev.weir.decision.HotKeyCounts;
import dev.weir.decision.KeyLimits;
import dev.weir.lease.RecentUsage;
import dev.weir.lease.StoreAwayException;
import dev.weir.lease.UsageCounts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.StringLength;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeContainer;
import net.jqwik.api.lifecycle.BeforeTry;

class ControlPlaneTest {

  private static final String PLANS =
      """
      default_plan: free
      plans:
        free: {rate: 100, period: 1m, capacity: 100}
        metered:
          limits:
            - {name: burst, rate: 50, period: 1s, capacity: 200}
            - {name: search, endpoints: [search], rate: 0.5, period: 1s, capacity: 30}
      endpoints: {search: 10}
      keys: {acme: metered}
      """;

  private static final ApiDocument API = ApiDocument.load();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static Vertx vertx;

  private final List<String> deployed = new ArrayList<>();
  private final List<String> inspected = new CopyOnWriteArrayList<>();
  private final List<String> forgotten = new CopyOnWriteArrayList<>();
  private final List<String> silent = new CopyOnWriteArrayList<>();
  private final AtomicBoolean storeUp = new AtomicBoolean(true);
  private ConfigVerticle config;
  private int port;

  @BeforeContainer
  static void makeVertx() {
    vertx = Vertx.vertx();
  }

  @AfterContainer
  static void closeVertx() {
    get(vertx.close());
  }

  @BeforeTry
  void deploy() {
    port = deploy(() -> AdminTokens.of(Optional.empty()));
  }

  @AfterTry
  void undeploy() {
    deployed.forEach(id -> get(vertx.undeploy(id)));
    deployed.clear();
    inspected.clear();
  }

  private final Map<String, Double> demand = new HashMap<>();
  private boolean demandIsWhole = true;
  private int missing;
  private Optional<Secret> regionToken = Optional.empty();

  private int deploy(Supplier<AdminTokens> tokens) {
    config = ConfigVerticle.alone(Seed.adding(PlansFile.parse(PLANS)), clock());
    deployed.add(get(vertx.deployVerticle(config)));
    config
        .membership()
        .publish(
            new NodeStatus("10.0.0.1:5701", 1, "", "", "eu", clock().epochMillis() - 5500, "up"));
    ControlPlane plane =
        new ControlPlane(
            new Settings.Admin(
                "127.0.0.1", 0, Optional.empty(), Optional.empty(), Optional.empty()),
            Optional.empty(),
            tokens,
            regionToken,
            new ControlCalls(
                config.configuration(),
                membership(),
                this::inspect,
                new KeyReset(config.configuration(), this::forget, this::obey),
                new AuditTrail(config.auditLog(), clock()),
                new FleetHotKeys(this::count),
                new KeyUsage(this::recent),
                storeUp::get,
                clock()),
            new RegionCalls(
                vertx,
                config.configuration(),
                membership(),
                "eu",
                () -> Future.succeededFuture(new FleetDemand.Sums(demand, demandIsWhole)),
                new AuditTrail(config.auditLog(), clock())),
            () -> "weir_nodes 1.0\n",
            API);
    deployed.add(get(vertx.deployVerticle(plane)));
    return plane.port();
  }

  /** A clock that stands still. */
  private static Clock clock() {
    return new Clock() {
      @Override
      public long micros() {
        return 0;
      }

      @Override
      public long epochMillis() {
        return 1_000_000;
      }
    };
  }

  @Example
  void everyChangeIsInTheAuditTheNewestFirst() {
    put("/limits/gold", "{\"rate\":10,\"capacity\":20}");
    put("/limits/gold", "{\"rate\":10,\"capacity\":30}");
    put("/endpoints/search", "{\"weight\":25}");
    put("/admin/limits/bob", "{\"tier\":\"gold\",\"capacity\":5,\"expires_in\":\"30s\"}");
    send("DELETE", "/admin/limits/bob");
    send("DELETE", "/plans/gold");
    send("POST", "/admin/reset/bob");

    String gold = "{\"algorithm\":\"token_bucket\",\"rate\":10,\"period\":\"1s\",\"capacity\":";
    String bob =
        "{\"tier\":\"gold\",\"override\":{\"capacity\":5,"
            + "\"expires_at\":\"1970-01-01T00:17:10.000Z\"}}";
    assertThat(getJson("/audit").getJsonArray("changes"))
        .containsExactly(
            change("reset_key", "bob", "null", "null"),
            change("delete_plan", "gold", gold + "30}", "null"),
            change("clear_key", "bob", bob, "null"),
            change("set_key", "bob", "null", bob),
            change("put_endpoint", "search", "{\"weight\":10}", "{\"weight\":25}"),
            change("put_plan", "gold", gold + "20}", gold + "30}"),
            change("put_plan", "gold", "null", gold + "20}"));
  }

  @Example
  void whatIsRefusedOrChangesNothingIsNotInTheAudit() {
    put("/limits/gold", "{\"rate\":-1}");
    put("/admin/limits/bob", "{\"tier\":\"platinum\"}");
    put("/admin/limits/acme", "{\"tier\":\"metered\"}");
    put("/endpoints/search", "{\"weight\":10}");
    send("DELETE", "/admin/limits/nobody");
    send("DELETE", "/plans/free");
    storeUp.set(false);
    send("POST", "/admin/reset/acme");
    assertThat(getJson("/audit").getJsonArray("changes")).isEmpty();
  }

  private static JsonObject change(String action, String subject, String before, String after) {
    return new JsonObject(
        "{\"when\":\"1970-01-01T00:16:40.000Z\",\"action\":\"%s\",\"subject\":\"%s\",\"old\":%s,\"new\":%s,\"by\":\"anonymous\"}"
            .formatted(action, subject, before, after));
  }

  @Example
  void aChangeThatIsTooLongToKeepIsToldByItsLength() {
    put(
        "/limits/long",
        "{\"limits\":[{\"rate\":1,\"endpoints\":["
            + IntStream.range(0, 900)
                .mapToObj(i -> "\"endpoint-" + i + "\"")
                .collect(Collectors.joining(","))
            + "]}]}");
    JsonObject change = getJson("/audit").getJsonArray("changes").getJsonObject(0);
    assertThat(change.getJsonObject("new").getInteger("characters")).isGreaterThan(4096);
  }

  /** Two nodes that count. */
  private Future<NodeBus.Answers> count(JsonObject question) {
    Function<JsonObject, JsonObject> one =
        FleetHotKeys.count(
            most -> new HotKeyCounts(Map.of("a", 5L, "b", 4L, "c", 1L), Map.of("d", 2L)));
    Function<JsonObject, JsonObject> other =
        FleetHotKeys.count(most -> new HotKeyCounts(Map.of("b", 4L), Map.of()));
    return Future.succeededFuture(
        new NodeBus.Answers(List.of(one.apply(question), other.apply(question)), silent));
  }

  @Example
  void hotKeysAreThoseOfAllNodesThatAnswer() {
    silent.add("10.0.0.2:5701");
    assertThat(getJson("/hot-keys?limit=2"))
        .isEqualTo(
            new JsonObject(
                """
                {"busiest":[{"key":"b","units":8},{"key":"a","units":5}],
                 "denied":[{"key":"d","decisions":2}],"silent":["10.0.0.2:5701"]}
                """));
    assertThat(getJson("/hot-keys").getJsonArray("busiest")).hasSize(3);
    for (String limit : List.of("0", "1001", "-1", "1.5", "x", "", "99999999999")) {
      problem(400, send("GET", "/hot-keys?limit=" + limit));
    }
  }

  private Future<List<RecentUsage>> recent(String key) {
    if (!storeUp.get()) {
      return Future.failedFuture(new StoreAwayException("not connected to h:1", true));
    }
    return Future.succeededFuture(
        key.equals("a/b")
            ? List.of(
                new RecentUsage("gold", 0, 60_000, new UsageCounts(7, 2, 3, 1, 20), true),
                new RecentUsage("gold", 60_000, 120_000, new UsageCounts(5, 0, 0, 0, 5), false))
            : List.of());
  }

  @Example
  void theLastWindowsOfAKeyAreShown() {
    assertThat(getJson("/usage/a%2Fb"))
        .isEqualTo(
            new JsonObject(
                """
                {"key":"a/b","windows":[
                  {"plan":"gold","window_start":"1970-01-01T00:01:00.000Z",
                   "window_end":"1970-01-01T00:02:00.000Z","spent":5,"degraded":0,"denied":0,
                   "would_deny":0,"authorized":5,"state":"open"},
                  {"plan":"gold","window_start":"1970-01-01T00:00:00.000Z",
                   "window_end":"1970-01-01T00:01:00.000Z","spent":7,"degraded":2,"denied":3,
                   "would_deny":1,"authorized":20,"state":"sealed"}]}
                """));
    assertThat(getJson("/usage/nobody").getJsonArray("windows")).isEmpty();
    problem(400, send("GET", "/usage/%FF"));
    problem(405, send("POST", "/usage/acme"));
    storeUp.set(false);
    assertThat(problem(503, send("GET", "/usage/acme")))
        .containsExactly("store: not connected to h:1");
  }

  private Future<Void> forget(String key, Set<Limit> limits) {
    forgotten.add(key + " " + limits.stream().map(Limit::name).sorted().distinct().toList());
    return storeUp.get()
        ? Future.succeededFuture()
        : Future.failedFuture(new StoreAwayException("not connected to h:1", true));
  }

  private Future<NodeBus.Answers> obey(JsonObject question) {
    forgotten.add(question.encode());
    return Future.succeededFuture(new NodeBus.Answers(List.of(new JsonObject()), silent));
  }

  @Example
  void aKeyIsResetInTheStoreUnderAllNamesOfLimitsAndThenOnAllNodes() {
    assertThat(send("POST", "/admin/reset/a%2Fb").statusCode()).isEqualTo(204);
    assertThat(forgotten).containsExactly("a/b [burst, default, search]", "{\"key\":\"a/b\"}");
  }

  @Example
  void aResetWithoutTheStoreIsRefusedAndReachesNoNode() {
    storeUp.set(false);
    assertThat(problem(503, send("POST", "/admin/reset/acme")))
        .containsExactly("store: not connected to h:1; nothing was forgotten");
    assertThat(forgotten).hasSize(1);
  }

  @Example
  void aResetThatANodeDoesNotAnswerIsToldOfAsNotDone() {
    silent.add("10.0.0.2:5701");
    assertThat(problem(503, send("POST", "/admin/reset/acme")))
        .singleElement()
        .asString()
        .startsWith("nodes: no answer from 10.0.0.2:5701 within 2000 ms;");
    problem(405, send("GET", "/admin/reset/acme"));
    problem(400, send("POST", "/admin/reset/%FF"));
  }

  private Future<KeyLimits> inspect(String key) {
    inspected.add(key);
    Optional<Plan> plan = config.configuration().current().planOf(key);
    if (plan.isEmpty() || key.equals("stranger")) {
      return Future.failedFuture(CheckRefusedException.unknownKey("key: has no plan"));
    }
    ConfigSnapshot snapshot = config.configuration().current();
    Plan own = snapshot.ownPlan(key, plan.get()).orElseGet(() -> snapshot.enforced(plan.get()));
    List<LimitStatus> statuses =
        own.limits().stream()
            .map(
                limit ->
                    new LimitStatus(
                        new LimitPolicy(limit.name(), limit.algorithm().quota(), 1),
                        limit.algorithm().quota() - 5,
                        190))
            .toList();
    return Future.succeededFuture(new KeyLimits(key, own, statuses, 0, false));
  }

  @Example
  void limitsOfEveryAlgorithmAreShownWithTheirOwnNumbers() {
    put(
        "/limits/all",
        """
        {"shadow":true,"limits":[
          {"name":"burst","rate":50,"capacity":200,"strict":true},
          {"name":"slide","algorithm":"sliding_window","limit":30,"window":"60s"},
          {"name":"month","algorithm":"fixed_window","limit":20,"window":"month","zone":"Asia/Tokyo"},
          {"name":"log","algorithm":"sliding_log","limit":10,"window":"500ms"}]}
        """);
    put("/admin/limits/acme", "{\"tier\":\"all\"}");

    JsonObject limits = getJson("/limits/acme");
    assertThat(limits.getString("name")).isEqualTo("log");
    assertThat(limits.getBoolean("shadow")).isTrue();
    assertThat(limits.getJsonArray("limits"))
        .containsExactly(
            new JsonObject(
                """
                {"name":"burst","algorithm":"token_bucket","rate":50,"period":"1s","capacity":200,
                "strict":true,"remaining":195,"reset_after":0.19}
                """),
            new JsonObject(
                """
                {"name":"slide","algorithm":"sliding_window","limit":30,"window":"1m",
                "remaining":25,"reset_after":0.19}
                """),
            new JsonObject(
                """
                {"name":"month","algorithm":"fixed_window","limit":20,"window":"month",
                "zone":"Asia/Tokyo","remaining":15,"reset_after":0.19}
                """),
            new JsonObject(
                """
                {"name":"log","algorithm":"sliding_log","limit":10,"window":"500ms",
                "remaining":5,"reset_after":0.19}
                """));
    assertThat(getJson("/plans").getJsonObject("plans").getJsonObject("all"))
        .isEqualTo(getJson("/plans/all"));
    assertThat(getJson("/plans/all").getBoolean("shadow")).isTrue();
  }

  @Example
  void anUnlimitedPlanHasNoLimitsAndAllLeft() {
    put("/limits/internal", "{\"unlimited\":true}");
    put("/admin/limits/acme", "{\"tier\":\"internal\"}");

    assertThat(getJson("/plans/internal")).isEqualTo(new JsonObject("{\"unlimited\":true}"));
    assertThat(getJson("/limits/acme"))
        .isEqualTo(
            new JsonObject(
                """
                {"key":"acme","plan":"internal","unlimited":true,"remaining":1000000000000,
                "reset_after":0,"stale":0.0,"degraded":false,"limits":[]}
                """));
  }

  @Example
  void aPlanIsPutReadListedAndDeleted() {
    assertThat(put("/limits/gold", "{\"rate\":10,\"period\":\"1s\",\"capacity\":20}"))
        .isEqualTo(204);
    assertThat(getJson("/plans/gold"))
        .isEqualTo(
            new JsonObject()
                .put("algorithm", "token_bucket")
                .put("rate", 10)
                .put("period", "1s")
                .put("capacity", 20));
    assertThat(getJson("/plans").getJsonObject("plans").fieldNames())
        .containsExactly("free", "gold", "metered");
    assertThat(getJson("/plans").getString("default_plan")).isEqualTo("free");
    assertThat(send("DELETE", "/plans/gold").statusCode()).isEqualTo(204);
    assertThat(problem(404, send("GET", "/plans/gold"))).containsExactly("there is no plan 'gold'");
    problem(404, send("DELETE", "/plans/gold"));
  }

  @Example
  void aPlanInUseIsNotDeleted() {
    problem(409, send("DELETE", "/plans/metered"));
    problem(409, send("DELETE", "/plans/free"));
    assertThat(getJson("/plans").getJsonObject("plans").fieldNames()).contains("free", "metered");
  }

  @Example
  void aWrongPlanIsRefusedWithEveryErrorAndChangesNothing() {
    long version = config.configuration().current().version();

    List<String> errors =
        problem(400, sendJson("/limits/gold", "{\"rate\":-1,\"capacity\":1.5,\"burst\":3}"));

    assertThat(errors).hasSizeGreaterThanOrEqualTo(3);
    assertThat(errors).anyMatch(e -> e.startsWith("rate: "));
    assertThat(errors).anyMatch(e -> e.startsWith("capacity: "));
    assertThat(errors).anyMatch(e -> e.startsWith("burst: "));
    assertThat(config.configuration().current().version()).isEqualTo(version);
  }

  @Example
  void bodiesThatAreNotJsonObjectsAreRefused() {
    for (String body :
        List.of("", "null", "[]", "1", "\"a\"", "{", "{\"rate\":}", "{\"rate\":1}x", "\u0000")) {
      problem(400, sendJson("/limits/gold", body));
    }
    problem(400, sendJson("/limits/gold", "[".repeat(100_000)));
    problem(400, sendJson("/limits/gold", "{\"rate\":1e999999999}"));
    problem(400, sendJson("/limits/gold", "{\"rate\":" + "9".repeat(5000) + "}"));
    problem(400, sendJson("/endpoints/a", "{\"weight\":1e999999999}"));
    problem(400, sendJson("/admin/limits/a", "{\"tier\":null}"));
    problem(400, sendJson("/admin/limits/a", "{\"tier\":{}}"));
  }

  @Example
  void anotherMediaTypeIsRefused() {
    problem(415, send("PUT", "/limits/gold", "{\"rate\":1}"));
    problem(415, send("PUT", "/limits/gold", "rate=1", "Content-Type", "text/plain"));
    assertThat(
            send(
                    "PUT",
                    "/limits/gold",
                    "{\"rate\":1}",
                    "Content-Type",
                    "Application/JSON; charset=utf-8")
                .statusCode())
        .isEqualTo(204);
  }

  @Example
  void aBodyOverOneMebibyteIsRefused() {
    problem(413, sendJson("/limits/gold", "{\"x\":\"" + "y".repeat(1 << 20) + "\"}"));
  }

  @Example
  void unknownPathsAndMethodsAreProblems() {
    problem(404, send("GET", "/nowhere"));
    problem(404, send("GET", "/"));
    problem(404, send("GET", "/limits"));
    problem(404, send("GET", "/limits/"));
    problem(404, send("GET", "/limits/a/b"));
    HttpResponse<String> refused = send("DELETE", "/limits/acme");
    problem(405, refused);
    assertThat(refused.headers().firstValue("allow").orElse("").split(", *"))
        .containsExactlyInAnyOrder("GET", "HEAD", "PUT");
    problem(405, sendJson("/cluster", "{}"));
  }

  @Example
  void theLimitsOfAKeyShowEachAndTheTightestOnTop() {
    JsonObject answer = getJson("/limits/acme");

    assertThat(answer)
        .isEqualTo(
            new JsonObject(
                """
                {"key":"acme","plan":"metered","name":"search","endpoints":["search"],
                 "algorithm":"token_bucket","rate":0.5,"period":"1s","capacity":30,"remaining":25,
                 "reset_after":0.19,"stale":0.0,"degraded":false,"limits":[
                 {"name":"burst","algorithm":"token_bucket","rate":50,"period":"1s","capacity":200,
                  "remaining":195,"reset_after":0.19},
                 {"name":"search","endpoints":["search"],"algorithm":"token_bucket","rate":0.5,
                  "period":"1s","capacity":30,"remaining":25,"reset_after":0.19}]}
                """));
  }

  @Example
  void aKeyWithoutAPlanIsForbidden() {
    assertThat(problem(403, send("GET", "/limits/stranger"))).containsExactly("key: has no plan");
  }

  @Example
  void aKeyIsAssignedAndPutBack() {
    assertThat(put("/admin/limits/bob", "{\"tier\":\"metered\"}")).isEqualTo(204);
    assertThat(getJson("/limits/bob").getString("plan")).isEqualTo("metered");
    assertThat(send("DELETE", "/admin/limits/bob").statusCode()).isEqualTo(204);
    assertThat(send("DELETE", "/admin/limits/bob").statusCode()).isEqualTo(204);
    assertThat(getJson("/limits/bob").getString("plan")).isEqualTo("free");
  }

  @Example
  void anAssignmentToAnUnknownPlanIsRefused() {
    problem(404, sendJson("/admin/limits/bob", "{\"tier\":\"platinum\"}"));
    problem(404, sendJson("/admin/limits/bob", "{\"tier\":\"platinum\",\"capacity\":5}"));
    assertThat(problem(400, sendJson("/admin/limits/bob", "{}")))
        .containsExactly(
            "must have tier, regions, or numbers: limit, window, or rate, period, capacity");
    assertThat(getJson("/limits/bob").getString("plan")).isEqualTo("free");
  }

  @Example
  void aKeyIsGivenNumbersOfItsOwnForSomeTimeAndPutBack() {
    assertThat(
            put("/admin/limits/bob", "{\"limit\":5000,\"window\":\"1m\",\"expires_in\":\"30s\"}"))
        .isEqualTo(204);

    JsonObject limits = getJson("/limits/bob");
    assertThat(limits.getString("plan")).isEqualTo("free");
    assertThat(limits.getInteger("capacity")).isEqualTo(5000);
    assertThat(limits.getInteger("rate")).isEqualTo(5000);
    assertThat(limits.getJsonObject("override"))
        .isEqualTo(new JsonObject("{\"limit\":5000,\"window\":\"1m\",\"expires_in\":30.0}"));
    assertThat(getJson("/limits/ann").getInteger("capacity")).isEqualTo(100);
    assertThat(getJson("/limits/ann").containsKey("override")).isFalse();

    assertThat(put("/admin/limits/bob", "{\"tier\":\"metered\"}")).isEqualTo(204);
    assertThat(put("/admin/limits/bob", "{\"name\":\"search\",\"capacity\":7}")).isEqualTo(204);
    assertThat(
            getJson("/limits/bob").getJsonArray("limits").getJsonObject(1).getInteger("capacity"))
        .isEqualTo(7);
    assertThat(getJson("/limits/bob").getJsonObject("override"))
        .isEqualTo(new JsonObject("{\"name\":\"search\",\"capacity\":7}"));

    assertThat(send("DELETE", "/admin/limits/bob").statusCode()).isEqualTo(204);
    assertThat(getJson("/limits/bob").getInteger("capacity")).isEqualTo(100);
    assertThat(getJson("/limits/bob").containsKey("override")).isFalse();
  }

  @Example
  void numbersThatTheKeysPlanCannotHaveAreRefusedAndChangeNothing() {
    assertThat(problem(400, sendJson("/admin/limits/acme", "{\"limit\":5}")))
        .containsExactly("name: must be one of burst, search");
    assertThat(problem(400, sendJson("/admin/limits/acme", "{\"name\":\"x\",\"limit\":5}")))
        .containsExactly("name: must be one of burst, search, was 'x'");
    assertThat(problem(400, sendJson("/admin/limits/bob", "{\"limit\":5,\"rate\":5}")))
        .containsExactly("rate: cannot stand beside limit and window");
    assertThat(problem(400, sendJson("/admin/limits/bob", "{\"limit\":-5,\"expires_in\":7}")))
        .hasSize(2);
    assertThat(config.configuration().current().overrides()).isEmpty();
  }

  @Example
  void manyKeysAreSetInOneCall() {
    assertThat(
            new JsonObject(
                postLines(
                        """
                        {"key":"acme","tier":"free"}

                        {"key":"bob","tier":"metered","name":"burst","capacity":7}
                        {"key":"carol","tier":"free"}
                        """)
                    .body()))
        .isEqualTo(new JsonObject().put("lines", 3).put("changed", 3));
    assertThat(getJson("/limits/bob").getJsonObject("override").getInteger("capacity"))
        .isEqualTo(7);
    assertThat(getJson("/limits/acme").getString("plan")).isEqualTo("free");
    assertThat(getJson("/audit").getJsonArray("changes"))
        .extracting(change -> ((JsonObject) change).getString("action"))
        .containsExactly("set_keys");
  }

  @Example
  void manyKeysAreRefusedTogetherWithEveryLineThatIsWrong() {
    assertThat(
            problem(
                400,
                postLines(
                    """
                    {"key":"acme","tier":"free"}
                    {"key":"bob","tier":"platinum"}
                    {"key":"carol","limit":5}
                    """)))
        .containsExactly("line 2: plans.platinum: there is no such plan");
    assertThat(problem(400, postLines("{\"key\":\"acme\",\"tier\":\"free\"}\nx\n")))
        .containsExactly("line 2: must be a JSON object");
    problem(415, send("POST", "/admin/limits", "{}", "Content-Type", "application/json"));
    assertThat(getJson("/limits/acme").getString("plan")).isEqualTo("metered");
    assertThat(getJson("/audit").getJsonArray("changes")).isEmpty();
  }

  @Example
  void aBodyOfManyKeysMayBeLargerThanOthersUpToABound() {
    String line = "{\"key\":\"acme\",\"tier\":\"metered\"}\n";
    assertThat(postLines(line.repeat((2 << 20) / line.length())).statusCode()).isEqualTo(200);
    assertThat(RawHttp.status(port, "POST /admin/limits", "Content-Length: " + ((64 << 20) + 1)))
        .isEqualTo(413);
    assertThat(postLines(line).statusCode()).isEqualTo(200);
  }

  /** It is none of the document's, and the router takes it all the same. */
  @Example
  void aPathWithASlashAtItsEndIsTheSame() throws Exception {
    assertThat(RawHttp.status(port, "POST /regions/exchange/")).isEqualTo(403);
    regionToken = Optional.of(new Secret("r3gion"));
    port = deploy(() -> AdminTokens.of(Optional.of(new Secret("s3cret"))));
    assertThat(RawHttp.status(port, "POST /regions/exchange/", "Authorization: Bearer s3cret"))
        .isEqualTo(401);
    assertThat(RawHttp.status(port, "GET /health/live/")).isEqualTo(200);

    String line = "{\"key\":\"acme\",\"tier\":\"metered\"}\n";
    HttpRequest many =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/admin/limits/"))
            .header("Authorization", "Bearer s3cret")
            .header("Content-Type", "application/x-ndjson")
            .POST(BodyPublishers.ofString(line.repeat((2 << 20) / line.length())))
            .build();
    assertThat(CLIENT.send(many, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> postLines(String lines) {
    return send("POST", "/admin/limits", lines, "Content-Type", "application/x-ndjson");
  }

  @Example
  void endpointsAreWeighed() {
    assertThat(put("/endpoints/a%2Fb", "{\"weight\":0}")).isEqualTo(204);
    assertThat(put("/endpoints/big", "{\"weight\":1000000000000}")).isEqualTo(204);
    assertThat(getJson("/endpoints"))
        .isEqualTo(
            new JsonObject()
                .put(
                    "endpoints",
                    new JsonObject()
                        .put("a/b", 0)
                        .put("big", 1_000_000_000_000L)
                        .put("search", 10)));
    for (String body :
        List.of(
            "{}",
            "{\"weight\":-1}",
            "{\"weight\":1.5}",
            "{\"weight\":\"1\"}",
            "{\"weight\":1000000000001}",
            "{\"weight\":99999999999999999999999999}",
            "{\"weight\":1,\"cost\":2}")) {
      assertThat(problem(400, sendJson("/endpoints/big", body)))
          .singleElement()
          .asString()
          .startsWith("weight: ");
    }
  }

  @Example
  void theClusterIsCountedAndItsMembersAreListed() {
    assertThat(getJson("/cluster"))
        .isEqualTo(
            new JsonObject()
                .put("nodes", 1)
                .put("version", config.configuration().current().version())
                .put(
                    "members",
                    new JsonArray()
                        .add(
                            new JsonObject()
                                .put("address", "10.0.0.1:5701")
                                .put("version", 1)
                                .put("region", "eu")
                                .put("uptime", 5)
                                .put("store", "up"))));
  }

  @Example
  void aNodeIsReadyWithoutItsStore() {
    assertThat(getJson("/health/ready").getString("store")).isEqualTo("up");
    storeUp.set(false);
    assertThat(getJson("/health/ready").getString("store")).isEqualTo("down");
    assertThat(getJson("/health/live").getString("status")).isEqualTo("up");
    assertThat(send("HEAD", "/health/ready").statusCode()).isEqualTo(200);
  }

  @Example
  void metricsAreScraped() {
    HttpResponse<String> answer = send("GET", "/metrics");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElse(""))
        .startsWith("text/plain; version=0.0.4");
    assertThat(answer.body()).isEqualTo("weir_nodes 1.0\n");
  }

  @Example
  void theDocumentOfTheApiIsServed() {
    HttpResponse<String> answer = send("GET", "/openapi.yaml");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/yaml");
    assertThat(answer.body()).startsWith("openapi: 3.1.0\n").isEqualTo(API.text().toString());
  }

  @Example
  void everyCallOfTheDocumentIsAnswered() {
    Map<String, Set<String>> documented = ApiContract.CONTROL_PLANE.operations();

    assertThat(documented).containsKeys("/limits/{name}", "/openapi.yaml");
    documented.forEach(
        (path, methods) ->
            methods.forEach(
                // Fails by itself on an answer that the call does not have there.
                method -> send(method, path.replaceAll("\\{[a-z]+}", "acme"))));
  }

  @Example
  void withATokenOnlyHealthAndTheDocumentAreAskedWithoutOne() {
    port = deploy(() -> AdminTokens.of(Optional.of(new Secret("s3cret"))));

    for (String path : List.of("/health/live", "/health/ready", "/openapi.yaml")) {
      assertThat(send("GET", path).statusCode()).isEqualTo(200);
    }
    for (String path : List.of("/cluster", "/metrics", "/limits/acme", "/nowhere")) {
      HttpResponse<String> refused = send("GET", path);
      problem(401, refused);
      assertThat(refused.headers().firstValue("www-authenticate")).contains("Bearer");
    }
    for (String wrong : List.of("s3cret", "Bearer", "Bearer ", "Bearer s3cre", "Basic s3cret")) {
      problem(401, send("GET", "/cluster", "", "Authorization", wrong));
    }
    assertThat(send("GET", "/cluster", "", "Authorization", "Bearer s3cret").statusCode())
        .isEqualTo(200);
    send("POST", "/admin/reset/acme", "", "Authorization", "Bearer s3cret");
    assertThat(send("GET", "/audit", "", "Authorization", "Bearer s3cret").body())
        .contains("\"by\":\"admin\"")
        .doesNotContain("s3cret");
    assertThat(send("GET", "/cluster", "", "Authorization", "bearer  s3cret").statusCode())
        .isEqualTo(200);
  }

  @Example
  void tableOfRegionsDividesPlansAndIsShown() {
    assertThat(getJson("/cluster").fieldNames()).doesNotContain("region", "regions", "weights");
    String table = "{\"eu\":{\"weight\":0.6},\"us\":{\"weight\":0.4}}";

    assertThat(put("/regions", table)).isEqualTo(204);
    assertThat(put("/limits/own", "{\"rate\":5,\"regions\":{\"eu\":0.25,\"us\":0.75}}"))
        .isEqualTo(204);

    JsonObject shown = getJson("/cluster");
    assertThat(shown.getString("region")).isEqualTo("eu");
    assertThat(shown.getJsonObject("regions")).isEqualTo(new JsonObject(table));
    assertThat(shown.getJsonObject("weights").getMap())
        .isEqualTo(Map.of("free", 0.6, "metered", 0.6, "own", 0.25));
    assertThat(getJson("/plans/own").getJsonObject("regions").getMap())
        .isEqualTo(Map.of("eu", 0.25, "us", 0.75));
    assertThat(getJson("/audit").getJsonArray("changes").getJsonObject(1))
        .isEqualTo(change("put_regions", "", null, table));
  }

  @Example
  void tableThatDoesNotGoWithThisRegionOrThePlansIsRefused() {
    assertThat(problem(409, sendJson("/regions", "{\"us\":{\"weight\":1}}")))
        .containsExactly("regions: must have 'eu', which this region is");
    assertThat(problem(409, sendJson("/limits/own", "{\"rate\":5,\"regions\":{\"mars\":1}}")))
        .containsExactly("plans.own.regions.mars: is not in the table of regions, which is empty");
    assertThat(problem(400, sendJson("/regions", "{\"eu\":{\"weight\":1.5}}")))
        .containsExactly(
            "regions.eu: must be a number from 0 to 1 with at most 6 decimals, was 1.5");
    assertThat(problem(400, sendJson("/admin/limits/acme", "{\"regions\":{\"mars\":1}}")))
        .containsExactly("regions.mars: is not in the table of regions, which is empty");
  }

  @Example
  void regionsAskForWeightWithTheirOwnTokenOnly() {
    String question = "{\"region\":\"us\",\"plans\":{},\"received\":{}}";
    assertThat(problem(403, exchange(question, "")))
        .containsExactly("this node has no region_token");
    regionToken = Optional.of(new Secret("r3gion"));
    port = deploy(() -> AdminTokens.of(Optional.of(new Secret("s3cret"))));
    for (String wrong : List.of("", "Bearer s3cret", "Bearer r3gio", "r3gion")) {
      problem(401, exchange(question, wrong));
    }
    problem(401, send("GET", "/cluster", "", "Authorization", "Bearer r3gion"));
    problem(403, exchange(question, "Bearer r3gion"));
  }

  @Example
  void weightIsGivenByDemandAndToldOnceItIsOnDisk() {
    regionToken = Optional.of(new Secret("r3gion"));
    deploy();
    put("/regions", "{\"eu\":{\"weight\":0.5},\"us\":{\"weight\":0.5}}");
    demand.put("free", 10.0);
    String question =
        "{\"region\":\"us\",\"plans\":{\"free\":{\"weight\":500000,\"demand\":90}},"
            + "\"received\":{}}";

    demandIsWhole = false;
    assertThat(exchange(question, "Bearer r3gion").body())
        .isEqualTo("{\"region\":\"eu\",\"given\":{}}");
    demandIsWhole = true;
    assertThat(exchange(question, "Bearer r3gion").body()).contains("\"given\":{}");
    await()
        .untilAsserted(
            () ->
                assertThat(getJson("/audit").getJsonArray("changes").getJsonObject(0))
                    .isEqualTo(
                        change("move_weights", "", "{\"free\":0.5}", "{\"free\":0.45}")
                            .put("by", "region:us")));
    assertThat(getJson("/cluster").getJsonObject("weights").getDouble("free")).isEqualTo(0.45);

    // The node has not yet said that it enforces it.
    assertThat(exchange(question, "Bearer r3gion").body()).contains("\"given\":{}");
    String digest = config.configuration().current().regions().ledger().givenDigest();
    publish(digest, "");
    assertThat(exchange(question, "Bearer r3gion").body()).contains("\"given\":{}");
    publish(digest, digest);
    assertThat(exchange(question, "Bearer r3gion").body()).contains("\"given\":{\"free\":50000}");
  }

  private void publish(String given, String saved) {
    config.membership().publish(new NodeStatus("10.0.0.1:5701", 1, given, saved, "eu", 0, "up"));
  }

  private HttpResponse<String> exchange(String question, String authorization) {
    return send(
        "POST",
        "/regions/exchange",
        question,
        "Content-Type",
        "application/json",
        "Authorization",
        authorization);
  }

  @Example
  void weightsStayWhileANodeIsMissing() {
    String table = "{\"eu\":{\"weight\":0.6},\"us\":{\"weight\":0.4}}";
    put("/regions", table);
    put("/limits/own", "{\"rate\":5,\"regions\":{\"eu\":0.25,\"us\":0.75}}");
    put("/admin/limits/acme", "{\"regions\":{\"eu\":1}}");
    missing = 1;

    for (String[] call :
        new String[][] {
          {"/regions", "{\"eu\":{\"weight\":0.5},\"us\":{\"weight\":0.4}}"},
          {"/regions", "{}"},
          {"/limits/own", "{\"rate\":5}"},
          {"/admin/limits/acme", "{\"regions\":{\"eu\":0.5}}"},
          {"/admin/limits/bob", "{\"regions\":{\"eu\":0.5}}"},
        }) {
      assertThat(problem(409, sendJson(call[0], call[1])))
          .containsExactly(
              "regions: weights cannot be changed while nodes are missing, which may go on with"
                  + " those before; missing: 1");
    }
    problem(409, send("DELETE", "/admin/limits/acme"));

    assertThat(put("/regions", table)).isEqualTo(204);
    assertThat(put("/limits/own", "{\"rate\":9,\"regions\":{\"eu\":0.25,\"us\":0.75}}"))
        .isEqualTo(204);
    assertThat(put("/admin/limits/bob", "{\"rate\":9}")).isEqualTo(204);
    missing = 0;
    assertThat(put("/limits/own", "{\"rate\":5}")).isEqualTo(204);
  }

  private Membership membership() {
    Membership there = config.membership();
    return new Membership() {
      @Override
      public int nodes() {
        return there.nodes();
      }

      @Override
      public int leasing() {
        return there.nodes() + missing;
      }

      @Override
      public List<NodeStatus> members() {
        return there.members();
      }

      @Override
      public void onChange(Runnable listener) {
        there.onChange(listener);
      }

      @Override
      public void publish(NodeStatus status) {
        there.publish(status);
      }
    };
  }

  @Example
  void malformedExchangeIsRefused() {
    regionToken = Optional.of(new Secret("r3gion"));
    deploy();
    for (String body :
        List.of(
            "",
            "[]",
            "{}",
            "{\"region\":\"us\",\"plans\":{\"free\":{\"weight\":-1,\"demand\":0}},\"received\":{}}",
            "{\"region\":\"us\",\"plans\":{},\"received\":{\"free\":-1}}",
            "{\"region\":\"us\",\"plans\":{},\"received\":{\"free\":1e30}}")) {
      problem(400, exchange(body, "Bearer r3gion"));
    }
  }

  @Example
  void malformedPathsAreRefused() {
    for (String key : List.of("%FF", "%C0%80", "%ED%A0%80", "%E2%82")) {
      problem(400, send("GET", "/limits/" + key));
      problem(400, send("DELETE", "/admin/limits/" + key));
      problem(400, sendJson("/limits/" + key, "{\"rate\":1}"));
    }
    for (String key : List.of("%", "a%", "%2", "%zz")) {
      assertThat(RawHttp.status(port, "GET /limits/" + key)).isEqualTo(400);
    }
    assertThat(inspected).isEmpty();
  }

  @Example
  void keysOfEveryKindComeThroughDecodedOnce() {
    for (String key :
        List.of(
            "a/b",
            "/",
            "a b",
            "a+b",
            "%",
            "%2F",
            "%252F",
            ".",
            "..",
            "../acme",
            "//",
            "a//b",
            "a;b",
            "a?b",
            "a#b",
            "\u0000",
            "a\u0000b",
            "é",
            "e\u0301",
            "日本",
            "😀",
            ":key",
            "{}",
            "x".repeat(1024),
            "é".repeat(512))) {
      inspected.clear();
      assertThat(getJson("/limits/" + encoded(key)).getString("key")).isEqualTo(key);
      assertThat(inspected).containsExactly(key);
    }
    problem(400, send("GET", "/limits/" + "x".repeat(1025)));
    problem(400, send("GET", "/limits/" + encoded("é".repeat(513))));
  }

  @Property(tries = 200)
  void keysComeThroughWhole(@ForAll @StringLength(min = 1, max = 60) String text) {
    String key = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);

    assertThat(getJson("/limits/" + encoded(key)).getString("key")).isEqualTo(key);
    assertThat(inspected).containsExactly(key);
  }

  /** Dots as well, which a client would otherwise take for steps up and down. */
  private static String encoded(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20").replace(".", "%2E");
  }

  private int put(String path, String body) {
    return sendJson(path, body).statusCode();
  }

  private JsonObject getJson(String path) {
    HttpResponse<String> answer = send("GET", path);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/json");
    return new JsonObject(answer.body());
  }

  /** The errors of an answer, which must be a problem of {@code status}. */
  private static List<String> problem(int status, HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("content-type")).contains("application/problem+json");
    JsonObject problem = new JsonObject(answer.body());
    assertThat(problem.getInteger("status")).isEqualTo(status);
    assertThat(problem.getString("title")).isNotEmpty();
    return problem.getJsonArray("errors", new JsonArray()).stream().map(String::valueOf).toList();
  }

  private HttpResponse<String> sendJson(String path, String body) {
    return send("PUT", path, body, "Content-Type", "application/json");
  }

  private HttpResponse<String> send(String method, String path) {
    return send(method, path, "");
  }

  private HttpResponse<String> send(String method, String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return ApiContract.CONTROL_PLANE.send(CLIENT, request.build());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }
}
