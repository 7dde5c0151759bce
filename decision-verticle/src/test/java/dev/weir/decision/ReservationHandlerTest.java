package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.ApiContract;
import dev.weir.config.Plan;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReservationHandlerTest {

  private static final Duration YEAR = Duration.ofDays(365);
  private static final String PATH = "/v1/reservations";

  private final Vertx vertx = Vertx.vertx();
  private final VirtualClock clock = new VirtualClock();
  private final Store store = TestStores.embedded(clock);
  private final TestNode node =
      new TestNode(
          clock,
          store,
          Plans.config(
              Plans.bucket("free", 1, YEAR, 10),
              Plan.unlimited("internal"),
              Plans.shadow(Plans.bucket("trial", 1, YEAR, 10))),
          1000);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HttpServer server;

  @BeforeEach
  void listen() {
    LocalLimiter limiter = new LocalLimiter(vertx, node.decider, 1000);
    CallerToken token = new CallerToken(Optional.empty());
    HttpAnswers answers = new HttpAnswers(clock::epochMillis, new BodyRoom(DataPlane.ROOM_BYTES));
    server =
        vertx
            .createHttpServer()
            .requestHandler(
                new CheckHttpHandler(
                    limiter,
                    limiter::requireDecidable,
                    token,
                    answers,
                    new ReservationHandler(limiter, answers),
                    request -> request.response().end()))
            .listen(0, "127.0.0.1")
            .await();
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void aReservationIsAnsweredLikeACheckWithItsIdBefore() throws Exception {
    HttpResponse<String> response = post(PATH, "{'key':'acme','cost':4}");
    assertThat(response.statusCode()).isEqualTo(201);
    JsonObject body = new JsonObject(response.body());
    assertThat(body.fieldNames())
        .containsExactly(
            "id",
            "expires_after",
            "allowed",
            "key",
            "plan",
            "limit",
            "remaining",
            "retry_after",
            "reset_after",
            "stale",
            "degraded");
    assertThat(body.getInteger("expires_after")).isEqualTo(60);
    assertThat(body.getBoolean("allowed")).isTrue();
    assertThat(body.getInteger("remaining")).isEqualTo(6);
    assertThat(body.getString("id")).matches("h[A-Za-z0-9_-]{22}(\\.[A-Za-z0-9_-]+){2}");
    assertThat(response.headers().firstValue("X-RateLimit-Remaining")).hasValue("6");
    assertThat(response.headers().firstValue("RateLimit")).isPresent();
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
  }

  @Test
  void aDeniedReservationIsADeniedCheck() throws Exception {
    assertThat(post(PATH, "{'key':'acme','cost':8}").statusCode()).isEqualTo(201);
    HttpResponse<String> response = post(PATH, "{'key':'acme','cost':3}");
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("Retry-After")).isPresent();
    JsonObject body = new JsonObject(response.body());
    assertThat(body.getString("reason")).isEqualTo("limit");
    assertThat(body.containsKey("id")).isFalse();
  }

  @Test
  void aPartIsCommittedAndTheRestGoesBack() throws Exception {
    String id = reserve("{'key':'acme','cost':7}");
    HttpResponse<String> response = post(PATH + "/" + id + "/commit", "{'cost':2}");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(new JsonObject(response.body()))
        .isEqualTo(new JsonObject().put("id", id).put("reserved", 7).put("spent", 2));
    assertThat(remaining("acme")).isEqualTo(8);
    assertProblem(post(PATH + "/" + id + "/commit", ""), 409);
    assertProblem(post(PATH + "/" + id + "/release", ""), 409);
    assertThat(remaining("acme")).isEqualTo(8);
  }

  @Test
  void withoutABodyAllIsCommitted() throws Exception {
    String id = reserve("{'key':'acme','cost':7}");
    HttpResponse<String> response = post(PATH + "/" + id + "/commit", "");
    assertThat(new JsonObject(response.body()).getInteger("spent")).isEqualTo(7);
    assertThat(remaining("acme")).isEqualTo(3);
  }

  @Test
  void whatIsReleasedIsThereAgain() throws Exception {
    String id = reserve("{'key':'acme','cost':7}");
    HttpResponse<String> response = post(PATH + "/" + id + "/release", "");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(new JsonObject(response.body()).getInteger("spent")).isZero();
    assertThat(remaining("acme")).isEqualTo(10);
    assertProblem(post(PATH + "/" + id + "/commit", ""), 409);
  }

  @Test
  void moreThanReservedIsRefusedAndNothingSettled() throws Exception {
    String id = reserve("{'key':'acme','cost':7}");
    HttpResponse<String> response = post(PATH + "/" + id + "/commit", "{'cost':8}");
    assertProblem(response, 400);
    assertThat(new JsonObject(response.body()).getString("detail"))
        .isEqualTo("cost: must be at most what is reserved, 7");
    assertThat(post(PATH + "/" + id + "/commit", "{'cost':7}").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"'', 60000", "30, 30000", "'\"30s\"', 30000", "1.5, 1500", "'\"1h\"', 3600000"})
  void itEndsWhenItsTimeToLiveIsOver(String ttl, long millis) throws Exception {
    String body = ttl.isEmpty() ? "{'key':'a'}" : "{'key':'a','ttl':" + ttl + "}";
    HttpResponse<String> response = post(PATH, body);
    JsonObject reserved = new JsonObject(response.body());
    assertThat(reserved.getDouble("expires_after")).isEqualTo(millis / 1000.0);
    clock.advance(Duration.ofMillis(millis - 1));
    assertThat(remaining("a")).isEqualTo(9);
    clock.advance(Duration.ofMillis(1));
    assertProblem(post(PATH + "/" + reserved.getString("id") + "/commit", ""), 404);
    assertThat(remaining("a")).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{'key':''}",
        "{'key':'a','cost':0}",
        "{'key':'a','endpoint':'health'}",
        "{'key':'a','cost':1.5}",
        "{'key':'a','ttl':0}",
        "{'key':'a','ttl':0.9999}",
        "{'key':'a','ttl':3601}",
        "{'key':'a','ttl':1e99999999}",
        "{'key':'a','ttl':-5}",
        "{'key':'a','ttl':'soon'}",
        "{'key':'a','ttl':'30'}",
        "{'key':'a','ttl':'2h'}",
        "{'key':'a','ttl':null}",
        "{'key':'a','ttl':[1]}",
        "{'key':'a','ttl':1,'ttl':1}",
        "{'key':'a','more':1}"
      })
  void aMalformedReservationIsRefused(String body) throws Exception {
    assertProblem(post(PATH, body), 400);
    assertThat(remaining("a")).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "{'cost':-1}", "{'cost':'1'}", "{'cost':1,'cost':1}", "{'k':1}"})
  void aMalformedCommitIsRefusedAndSettlesNothing(String body) throws Exception {
    String id = reserve("{'key':'acme','cost':7}");
    assertProblem(post(PATH + "/" + id + "/commit", body), 400);
    assertProblem(post(PATH + "/" + id + "/release", "{'cost':1}"), 400);
    assertProblem(post(PATH + "/" + id + "/release?cost=1", ""), 400);
    assertThat(post(PATH + "/" + id + "/release", "{}").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "hAAAAAAAAAAAAAAAAAAAAAA.YQ.cA",
        "hAAAAAAAAAAAAAAAAAAAAAA.YQ.",
        "hAAAAAAAAAAAAAAAAAAAAAA..cA",
        "hAAAAAAAAAAAAAAAAAAAAAA.YQ",
        "hAAAAAAAAAAAAAAAAAAAAAA.YR.cA",
        "hAAAAAAAAAAAAAAAAAAAAAA.gA.cA",
        "hAAAAAAAAAAAAAAAAAAAAAA.YQ.gA",
        "hAAAAAAAAAAAAAAAAAAAAAA.YQ==.cA",
        "a/b",
        "%2e%2e"
      })
  void anIdThatNobodyWasGivenIsUnknown(String id) throws Exception {
    reserve("{'key':'a'}");
    assertProblem(post(PATH + "/" + id + "/commit", ""), 404);
    assertProblem(post(PATH + "/" + id + "/release", ""), 404);
  }

  @Test
  void anotherMethodOrPathIsRefused() throws Exception {
    HttpResponse<String> response = send("GET", PATH, "");
    assertProblem(response, 405);
    assertThat(response.headers().firstValue("Allow")).hasValue("POST");
    assertProblem(send("DELETE", PATH + "/x/commit", ""), 405);
    assertProblem(post(PATH + "/x", ""), 404);
    assertProblem(post(PATH + "x", ""), 404);
    assertProblem(post(PATH + "/commit", ""), 404);
    String id = reserve("{'key':'a'}");
    assertProblem(post(PATH + "x" + id + "/commit", ""), 404);
    assertProblem(post(PATH + "x/" + id + "/commit", ""), 404);
    assertProblem(post(PATH, "{'key':'a','plan':'nowhere'}"), 404);
  }

  @Test
  void anyKeyLeadsBackToItself() throws Exception {
    for (String key : List.of("{x}:%", "\u00e9\ud83d\ude00", "k".repeat(1024), " ")) {
      String body = new JsonObject().put("key", key).put("cost", 3).encode();
      JsonObject reserved = new JsonObject(send("POST", PATH, body).body());
      assertThat(post(PATH + "/" + reserved.getString("id") + "/release", "").statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void whatIsNotLimitedIsReservedWithoutBeingHeld() throws Exception {
    String id = reserve("{'key':'acme','cost':7,'plan':'internal'}");
    assertThat(id).startsWith("n");
    HttpResponse<String> response = post(PATH + "/" + id + "/commit", "{'cost':3}");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(new JsonObject(response.body()).getInteger("reserved")).isZero();
    assertThat(reserve("{'key':'acme','cost':11,'plan':'trial'}")).startsWith("n");
    assertThat(reserve("{'key':'acme','cost':10,'plan':'trial'}")).startsWith("h");
  }

  @Test
  void withTheStoreAwayItIsDecidedHereAndCannotBeSettledForSure() throws Exception {
    String held = reserve("{'key':'acme','cost':3}");
    node.cut();
    HttpResponse<String> response = post(PATH, "{'key':'acme','cost':2}");
    assertThat(response.statusCode()).isEqualTo(201);
    assertThat(response.headers().firstValue("X-RateLimit-Degraded")).hasValue("true");
    JsonObject degraded = new JsonObject(response.body());
    assertThat(degraded.getBoolean("degraded")).isTrue();
    assertThat(post(PATH + "/" + degraded.getString("id") + "/release", "").statusCode())
        .isEqualTo(200);

    HttpResponse<String> unsure = post(PATH + "/" + held + "/commit", "");
    assertProblem(unsure, 503);
    assertThat(new JsonObject(unsure.body()).getString("type"))
        .endsWith("#temporary-reduced-capacity");
    assertThat(unsure.headers().firstValue("Retry-After")).hasValue("1");
    node.mend();
    assertThat(post(PATH + "/" + held + "/commit", "").statusCode()).isEqualTo(200);
    node.tend();
    assertThat(remaining("acme")).isEqualTo(5);
  }

  // ---- once

  @ParameterizedTest
  @CsvSource({"abc, abc", "abc, '\"abc\"'", "a\"b\\c, '\"a\\\"b\\\\c\"'"})
  void aCheckIsKnownByItsHeaderHoweverItIsWritten(String plain, String header) throws Exception {
    JsonObject check = new JsonObject().put("key", "acme").put("cost", 3).put("id", plain);
    HttpResponse<String> first = send("POST", "/v1/check", check.encode());
    assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
    check.remove("id");
    HttpResponse<String> again = send("POST", "/v1/check", check.encode(), header);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(remaining("acme")).isEqualTo(7);
    assertProblem(send("POST", "/v1/check", "{\"key\":\"acme\"}", header), 422);
    assertThat(remaining("acme")).isEqualTo(7);
  }

  @Test
  void aQueryMayHaveAnIdToo() throws Exception {
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> response = send("GET", "/v1/check?key=acme&cost=2&id=7%20f", "");
      assertThat(response.statusCode()).isEqualTo(200);
    }
    assertThat(remaining("acme")).isEqualTo(8);
  }

  @Test
  void aRepeatedReservationHasTheSameId() throws Exception {
    String body = "{\"key\":\"acme\",\"cost\":3}";
    HttpResponse<String> first = send("POST", PATH, body, "x");
    assertThat(first.statusCode()).isEqualTo(201);
    HttpResponse<String> again = send("POST", PATH, body, "\"x\"");
    assertThat(again.statusCode()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(remaining("acme")).isEqualTo(7);
  }

  @Test
  void checksOfABatchMayHaveIds() throws Exception {
    String one = "{'key':'acme','cost':2,'id':'x'}";
    String batch = "{'checks':[" + one + "," + one + ",{'key':'acme'}]}";
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> response = post("/v1/check/batch", batch);
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    }
    assertThat(remaining("acme")).isEqualTo(6);
    String other = "{'checks':[{'key':'acme'},{'key':'acme','cost':1,'id':'x'}]}";
    assertProblem(post("/v1/check/batch", other), 422);
    String twice = "{'checks':[{'key':'b','id':'y'},{'key':'b','cost':2,'id':'y'}]}";
    assertProblem(post("/v1/check/batch", twice), 422);
    assertProblem(send("POST", "/v1/check/batch", batch.replace('\'', '"'), "x"), 400);
    assertThat(remaining("acme")).isEqualTo(6);
    assertThat(remaining("b")).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"", "\"a", "\"a\"b\"", "\"\"", "\"a\";b=1", "\"a\\\""})
  void aMalformedHeaderIsRefused(String header) throws Exception {
    assertProblem(send("POST", "/v1/check", "{\"key\":\"acme\"}", header), 400);
    assertThat(remaining("acme")).isEqualTo(10);
  }

  @Test
  void aMalformedIdIsRefused() throws Exception {
    for (String id : List.of("", "\u00e9", "a\nb", "x".repeat(256))) {
      String body = new JsonObject().put("key", "acme").put("id", id).encode();
      assertProblem(send("POST", "/v1/check", body), 400);
    }
    assertProblem(send("POST", "/v1/check", "{\"key\":\"acme\",\"id\":\"a\"}", "b"), 400);
    String longest = new JsonObject().put("key", "acme").put("id", "x".repeat(255)).encode();
    assertThat(send("POST", "/v1/check", longest).statusCode()).isEqualTo(200);
  }

  private long remaining(String key) {
    return node.inspect(key).statuses().get(0).remaining();
  }

  private String reserve(String body) throws Exception {
    HttpResponse<String> response = post(PATH, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
    return new JsonObject(response.body()).getString("id");
  }

  private static void assertProblem(HttpResponse<String> response, int status) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    JsonObject problem = new JsonObject(response.body());
    assertThat(problem.fieldNames()).containsExactly("type", "title", "status", "detail");
    assertThat(problem.getInteger("status")).isEqualTo(status);
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return send("POST", path, body.replace('\'', '"'));
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    return ApiContract.DATA_PLANE.send(client, request(method, path, body).build());
  }

  private HttpResponse<String> send(String method, String path, String body, String idempotencyKey)
      throws Exception {
    HttpRequest.Builder request = request(method, path, body);
    return ApiContract.DATA_PLANE.send(
        client, request.header("Idempotency-Key", idempotencyKey).build());
  }

  private HttpRequest.Builder request(String method, String path, String body) {
    URI uri = URI.create("http://127.0.0.1:" + server.actualPort() + path);
    return HttpRequest.newBuilder(uri).method(method, BodyPublishers.ofString(body));
  }
}
