package dev.weir.decision;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.client.ApiContract;
import dev.weir.client.CheckRequest;
import dev.weir.config.Shard;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CheckHttpHandlerTest {

  private static final long NOW = 1_700_000_000_000L;

  private static final String CLOSE = "Connection: close\r\n\r\n";

  private final Vertx vertx = Vertx.vertx();
  private final FakeLimiter limiter = new FakeLimiter();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HttpServer server;

  @BeforeEach
  void listen() {
    server = listen(Optional.empty());
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private HttpServer listen(Optional<String> token) {
    return vertx
        .createHttpServer()
        .requestHandler(DataPlane.of(limiter, NOW, token))
        .listen(0, "127.0.0.1")
        .await();
  }

  @Test
  void anAllowedCheckHasEveryMemberAndHeader() throws Exception {
    HttpResponse<String> response = post("{'key':'acme','cost':3}");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body())
        .isEqualTo(
            "{\"allowed\":true,\"key\":\"acme\",\"plan\":\"free\",\"limit\":10,\"remaining\":7,"
                + "\"retry_after\":0,\"reset_after\":3,\"stale\":0,\"degraded\":false}");
    assertThat(header(response, "Content-Type")).isEqualTo("application/json");
    assertThat(header(response, "Content-Length"))
        .isEqualTo(Integer.toString(response.body().length()));
    assertThat(header(response, "Cache-Control")).isEqualTo("no-store");
    assertThat(header(response, "X-RateLimit-Limit")).isEqualTo("10");
    assertThat(header(response, "X-RateLimit-Remaining")).isEqualTo("7");
    assertThat(header(response, "X-RateLimit-Reset")).isEqualTo("1700000003");
    assertThat(header(response, "X-RateLimit-Stale")).isEqualTo("0.0");
    assertThat(header(response, "RateLimit-Policy")).isEqualTo("\"default\";q=10;w=10");
    assertThat(header(response, "RateLimit")).isEqualTo("\"default\";r=7;t=3");
    assertThat(response.headers().map()).doesNotContainKeys("retry-after", "x-ratelimit-degraded");
  }

  @Test
  void aDeniedCheckIsAProblemWithTheSameHeaders() throws Exception {
    post("{'key':'acme','cost':10}");
    HttpResponse<String> response = post("{'key':'acme'}");

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(header(response, "Retry-After")).isEqualTo("1");
    assertThat(header(response, "X-RateLimit-Remaining")).isEqualTo("0");
    assertThat(header(response, "RateLimit")).isEqualTo("\"default\";r=0;t=10");
    assertThat(new JsonObject(response.body()))
        .isEqualTo(
            new JsonObject()
                .put("type", "https://iana.org/assignments/http-problem-types#quota-exceeded")
                .put("title", "Request cannot be satisfied as assigned quota has been exceeded")
                .put("status", 429)
                .put("violated-policies", new JsonArray().add("default"))
                .put("allowed", false)
                .put("key", "acme")
                .put("plan", "free")
                .put("limit", 10)
                .put("remaining", 0)
                .put("retry_after", 0.9)
                .put("reset_after", 10)
                .put("stale", 0)
                .put("degraded", false)
                .put("reason", "limit"));
  }

  @Test
  void aCostThatNeverFitsHasNoRetryAfterAndSpendsNothing() throws Exception {
    HttpResponse<String> response = post("{'key':'acme','cost':11}");

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("Retry-After")).isEmpty();
    assertThat(new JsonObject(response.body()).getString("reason")).isEqualTo("cost_exceeds_limit");
    assertThat(limiter.used("acme")).isZero();
  }

  @Test
  void aCheckThatIsRefusedSinceTheStoreIsAwayIsNoFaultOfTheCaller() throws Exception {
    HttpResponse<String> response = post("{'key':'refused'}");

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(header(response, "Retry-After")).isEqualTo("1");
    assertThat(header(response, "X-RateLimit-Degraded")).isEqualTo("true");
    assertThat(header(response, "X-RateLimit-Stale")).isEqualTo("12.1");
    JsonObject problem = new JsonObject(response.body());
    assertThat(problem.getString("type"))
        .isEqualTo("https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");
    assertThat(problem.getInteger("status")).isEqualTo(503);
    assertThat(problem.getString("reason")).isEqualTo("store_away");
  }

  @Test
  void inABatchSuchACheckIsOneEntryOfAnAnswer() throws Exception {
    HttpResponse<String> response = postBatch("{'checks':[{'key':'acme'},{'key':'refused'}]}");

    assertThat(response.statusCode()).isEqualTo(200);
    JsonObject refused = new JsonObject(response.body()).getJsonArray("decisions").getJsonObject(1);
    assertThat(refused.getBoolean("allowed")).isFalse();
    assertThat(refused.getString("reason")).isEqualTo("store_away");
  }

  @Test
  void aDegradedDecisionIsFlagged() throws Exception {
    HttpResponse<String> response = post("{'key':'acme','endpoint':'degraded'}");

    assertThat(header(response, "X-RateLimit-Degraded")).isEqualTo("true");
    assertThat(new JsonObject(response.body()).getBoolean("degraded")).isTrue();
  }

  @Test
  void theQueryMakesTheSameCheckWithEitherMethod() throws Exception {
    String path = "/v1/check?key=a%2Fb+c%20%C3%BC%F0%9F%99%82%00&cost=2&plan=gold&endpoint=search";
    HttpResponse<String> get = send("GET", path, BodyPublishers.noBody());
    HttpResponse<String> post = send("POST", path, BodyPublishers.noBody());

    String key = "a/b c ü🙂\0";
    assertThat(new JsonObject(get.body()).getString("key")).isEqualTo(key);
    assertThat(new JsonObject(get.body()).getString("plan")).isEqualTo("gold");
    assertThat(new JsonObject(get.body()).getLong("remaining")).isEqualTo(8);
    assertThat(new JsonObject(post.body()).getLong("remaining")).isEqualTo(6);
    assertThat(limiter.used(key)).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "                             | key: is missing",
        "key=                         | key: must not be empty",
        "key                          | key: must not be empty",
        "key=a&key=b                  | key: is given more than once",
        "key=a&cost=1&cost=1          | cost: is given more than once",
        "key=a&cost=                  | cost: must be a whole number",
        "key=a&cost=-1                | cost: must be a whole number",
        "key=a&cost=1.5               | cost: must be a whole number",
        "key=a&cost=1e3               | cost: must be a whole number",
        "key=a&cost=1000000000001     | cost: must be a whole number",
        "key=a&cost=99999999999999999999999 | cost: must be a whole number",
        "key=a&cost=%2B1              | cost: must be a whole number",
        "key=a&cost=%D9%A1            | cost: must be a whole number",
        "key=a&plan=                  | plan: must not be empty",
        "key=a&colour=red             | colour: is not a member of a check",
        "key=%                        | query: has a percent sign",
        "key=%4                       | query: has a percent sign",
        "key=%zz                      | query: has a percent sign",
        "key=%ff                      | query: is not UTF-8",
        "key=%c3                      | query: is not UTF-8",
        "key=%ed%a0%80                | query: is not UTF-8",
        "key=%c0%80                   | query: is not UTF-8",
      })
  void aQueryThatIsNoCheckIsRefused(String query, String detail) throws Exception {
    String target = "/v1/check" + (query == null ? "" : "?" + query);
    String answer = raw("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

    assertThat(answer).startsWith("HTTP/1.1 400 ").contains("\"detail\":\"" + detail);
    assertThat(limiter.used("a")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "'acme'",
        "null",
        "7",
        "nonsense",
        "{'key':'a'} {'key':'a'}",
        "{'key':'a'}]",
        "{'key':'a',}",
        "{'key':'a','key':'a'}",
        "{'key':'a','cost':1,'cost':1}",
        "{'key':'a','cost':'1'}",
        "{'key':'a','cost':null}",
        "{'key':'a','cost':1.5}",
        "{'key':'a','cost':-1}",
        "{'key':'a','cost':01}",
        "{'key':'a','cost':+1}",
        "{'key':'a','cost':NaN}",
        "{'key':'a','cost':1e999999999999}",
        "{'key':'a','cost':1e-999999999999}",
        "{'key':'a','cost':1e2147483647}",
        "{'key':'a','cost':10000000000000000000000000}",
        "{'key':''}",
        "{'key':7}",
        "{'key':{'key':'a'}}",
        "{'key':['a']}",
        "{'key':'a','__proto__':{'key':'b'}}",
        "{'key':'a','constructor':1}",
        "{'key':'\\ud800'}",
        "{'key':'a\u0000'}",
        "{'key':'a','plan':''}",
        "{'Key':'a'}",
        "\ufeff{'key':'a'}"
      })
  void aBodyThatIsNoCheckIsRefused(String body) throws Exception {
    HttpResponse<String> response = post(body);

    assertProblem(response, 400);
    assertThat(limiter.used("a")).isZero();
  }

  @Test
  void excessIsRefusedLikeAnyOtherMistake() throws Exception {
    assertProblem(post("{'key':'" + "k".repeat(1_025) + "'}"), 400);
    assertProblem(post("[".repeat(500_000)), 400);
    assertProblem(post("{'key':" + "{'a':".repeat(100_000)), 400);
    assertProblem(post("{'key':'a','cost':" + "9".repeat(500_000) + "}"), 400);
    assertProblem(post("{'key':'a','cost':0." + "9".repeat(500_000) + "}"), 400);
    assertProblem(post("{'" + "n".repeat(500_000) + "':1}"), 400);
  }

  @Test
  void aBodyOfWrongBytesIsRefused() throws Exception {
    byte[] truncated = "{\"key\":\"ü\"}".getBytes(UTF_8);
    truncated[9] = '"';
    assertProblem(send("POST", "/v1/check", BodyPublishers.ofByteArray(truncated)), 400);
    byte[] utf16 = "{\"key\":\"a\"}".getBytes(UTF_16LE);
    assertProblem(send("POST", "/v1/check", BodyPublishers.ofByteArray(utf16)), 400);
  }

  @Test
  void aKeyOfAnyUnicodeComesBackAsItWent() throws Exception {
    for (String key : new String[] {"a\0b", "{}:/%_", "e\u0301", "é", "🙂", "k".repeat(1024)}) {
      HttpResponse<String> response = post(new JsonObject().put("key", key).encode());

      assertThat(new JsonObject(response.body()).getString("key")).isEqualTo(key);
      assertThat(new JsonObject(response.body()).getLong("remaining")).isEqualTo(9);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json                    | 200",
        "APPLICATION/JSON; charset=UTF-8     | 200",
        "application/json;charset=\"utf-8\"  | 200",
        "application/vnd.weir+json           | 200",
        "application/x-www-form-urlencoded   | 415",
        "text/plain                          | 415",
        "application/json; charset=utf-16    | 415",
        "+json                               | 415",
        ";                                   | 415",
      })
  void theContentTypeHasToBeJson(String type, int status) throws Exception {
    HttpResponse<String> response =
        ApiContract.DATA_PLANE.send(
            client,
            request("/v1/check")
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString("{\"key\":\"acme\"}"))
                .build());

    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(limiter.used("acme")).isEqualTo(status == 200 ? 1 : 0);
  }

  @Test
  void aCompressedBodyIsRefusedByName() throws Exception {
    HttpResponse<String> response =
        ApiContract.DATA_PLANE.send(
            client,
            request("/v1/check")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofString("{\"key\":\"acme\"}"))
                .build());

    assertProblem(response, 415);
  }

  @Test
  void bodyAndQueryTogetherAreAmbiguous() throws Exception {
    HttpResponse<String> response =
        send("POST", "/v1/check?key=acme", BodyPublishers.ofString("{\"key\":\"acme\"}"));

    assertProblem(response, 400);
    assertThat(limiter.used("acme")).isZero();
  }

  @Test
  void whatIsUnknownIsSaidSo() throws Exception {
    assertProblem(post("{'key':'stranger'}"), 403);
    assertProblem(post("{'key':'acme','plan':'nowhere'}"), 404);
    assertProblem(send("GET", "/v1/checks?key=acme", BodyPublishers.noBody()), 404);
    assertProblem(send("GET", "/", BodyPublishers.noBody()), 404);
  }

  @Test
  void theDocumentOfTheApiHasThePathsThatAreAnswered() throws Exception {
    Map<String, Set<String>> documented = ApiContract.DATA_PLANE.operations();

    assertThat(documented.keySet())
        .containsExactlyInAnyOrder(
            CheckHttpHandler.CHECK_PATH,
            CheckHttpHandler.BATCH_PATH,
            ReservationHandler.PATH,
            ReservationHandler.PATH + "/{id}/commit",
            ReservationHandler.PATH + "/{id}/release",
            AuthorizeHandler.PATH,
            AuthorizeHandler.PATH + "/{path}");
    String id = new ReservationId(false, ReservationId.newUnique(), "a", "p", Shard.WHOLE).text();
    for (var path : documented.entrySet()) {
      for (String method : path.getValue()) {
        assertThat(
                send(
                    method,
                    path.getKey().replace("{path}", "a").replace("{id}", id),
                    BodyPublishers.noBody()))
            .as(method + " " + path.getKey())
            .extracting(HttpResponse::statusCode)
            .isNotIn(404, 405);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      value = {
        "PUT,/v1/check,'GET, POST'",
        "DELETE,/v1/check,'GET, POST'",
        "HEAD,/v1/check,'GET, POST'",
        "OPTIONS,/v1/check,'GET, POST'",
        "GET,/v1/check/batch,POST",
      })
  void anotherMethodIsToldWhichThereAre(String method, String path, String allowed)
      throws Exception {
    HttpResponse<String> response = send(method, path + "?key=acme", BodyPublishers.noBody());

    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(header(response, "Allow")).isEqualTo(allowed);
    assertThat(limiter.used("acme")).isZero();
  }

  @Test
  void aFaultOfOursIsAProblemToo() throws Exception {
    HttpRequest faulty = request("/v1/check?key=faulty").build();
    // Past the API's document, which has no such answer.
    assertProblem(client.send(faulty, BodyHandlers.ofString()), 500);
    assertThat(post("{'key':'acme'}").statusCode()).isEqualTo(200);
  }

  @Test
  void aDecisionThatTakesTimeIsAnsweredWhenItComes() {
    var response =
        ApiContract.DATA_PLANE.sendAsync(client, request("/v1/check?key=slow").GET().build());
    await().until(() -> limiter.slow().isPresent());
    assertThat(response).isNotDone();

    limiter.slow().orElseThrow().complete(limiter.decide(CheckRequest.of("acme")));

    assertThat(response.join().statusCode()).isEqualTo(200);
  }

  @Test
  void aClientThatWentAwayIsNotAnswered() throws Exception {
    try (Socket socket = connect()) {
      socket
          .getOutputStream()
          .write("GET /v1/check?key=slow HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(UTF_8));
      await().until(() -> limiter.slow().isPresent());
    }
    // The next answer comes from the same loop, after it has seen the other connection close.
    assertThat(post("{'key':'acme'}").statusCode()).isEqualTo(200);

    limiter.slow().orElseThrow().complete(limiter.decide(CheckRequest.of("acme")));

    assertThat(post("{'key':'acme'}").statusCode()).isEqualTo(200);
  }

  @Test
  void aBatchIsDecidedInOrderEachOnItsOwn() throws Exception {
    HttpResponse<String> response =
        postBatch("{'checks':[{'key':'a','cost':6},{'key':'a','cost':6},{'key':'b'},{'key':'a'}]}");

    assertThat(response.statusCode()).isEqualTo(200);
    JsonArray decisions = new JsonObject(response.body()).getJsonArray("decisions");
    assertThat(decisions.stream().map(d -> ((JsonObject) d).getBoolean("allowed")))
        .containsExactly(true, false, true, true);
    assertThat(decisions.getJsonObject(1).getString("reason")).isEqualTo("limit");
    assertThat(decisions.getJsonObject(1).containsKey("status")).isFalse();
    assertThat(decisions.getJsonObject(3).getLong("remaining")).isEqualTo(3);
  }

  @Test
  void aBatchMayBeEmptyAndAsLargeAsTenThousand() throws Exception {
    assertThat(postBatch("{'checks':[]}").body()).isEqualTo("{\"decisions\":[]}");

    HttpResponse<String> full = postBatch(batchOf(10_000));
    assertThat(full.statusCode()).isEqualTo(200);
    assertThat(new JsonObject(full.body()).getJsonArray("decisions")).hasSize(10_000);

    HttpResponse<String> tooMany = postBatch(batchOf(10_001));
    assertProblem(tooMany, 400);
    assertThat(limiter.used("k0")).isEqualTo(1);
  }

  @Test
  void aBatchWaitsForItsSlowestCheck() {
    var response =
        ApiContract.DATA_PLANE.sendAsync(
            client,
            request("/v1/check/batch")
                .POST(BodyPublishers.ofString(quoted("{'checks':[{'key':'slow'},{'key':'a'}]}")))
                .build());
    await().until(() -> limiter.slow().isPresent());
    limiter.slow().orElseThrow().complete(limiter.decide(CheckRequest.of("slow")));

    assertThat(new JsonObject(response.join().body()).getJsonArray("decisions")).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'key':'b','cost':-1}       | 400 | checks[1].cost: must be",
        "{'cost':1}                  | 400 | checks[1].key: is missing",
        "{'key':'b','a':1}           | 400 | checks[1].a: is not a member",
        "7                           | 400 | checks[1]: must be an object",
        "{'key':'b','plan':'nowhere'}| 404 | checks[1].plan: there is no such plan",
        "{'key':'stranger'}          | 403 | checks[1].key: has no plan",
      })
  void oneBadCheckRefusesTheWholeBatch(String bad, int status, String detail) throws Exception {
    HttpResponse<String> response = postBatch("{'checks':[{'key':'a'}," + bad + ",{'key':'a'}]}");

    assertProblem(response, status);
    assertThat(new JsonObject(response.body()).getString("detail")).startsWith(detail);
    assertThat(limiter.used("a")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "{'checks':{}}",
        "{'checks':null}",
        "{'checks':[",
        "{'checks':[{'key':'a'}]",
        "{'checks':[{'key':'a'}],'more':1}",
        "{'checks':[{'key':'a'}],'checks':[]}",
        "{'more':1,'checks':[{'key':'a'}]}",
        "{'checks':[{'key':'a'}]}{}",
      })
  void aBodyThatIsNoBatchIsRefused(String body) throws Exception {
    assertProblem(postBatch(body), 400);
    assertThat(limiter.used("a")).isZero();
  }

  @Test
  void aBodyTooLargeIsRefusedBeforeItIsRead() throws Exception {
    String answer =
        raw("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n{\"key\"");

    assertThat(answer).startsWith("HTTP/1.1 413 ").contains("body: must be at most 1048576 bytes");
  }

  @Test
  void aBodyTooLargeInChunksIsRefusedAndTheConnectionLivesOn() throws Exception {
    try (Socket socket = connect()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(bytes("POST /v1/check HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
      for (int i = 0; i < 20; i++) {
        out.write(bytes("10000\r\n" + " ".repeat(0x10000) + "\r\n"));
      }
      out.write(bytes("0\r\n\r\n"));
      out.write(bytes("GET /v1/check?key=acme HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
      socket.getOutputStream().write(out.toByteArray());

      String answers = new String(socket.getInputStream().readAllBytes(), UTF_8);

      assertThat(answers).startsWith("HTTP/1.1 413 ").contains("HTTP/1.1 200 ");
    }
    assertThat(limiter.used("acme")).isEqualTo(1);
  }

  @Test
  void bodiesThatAreNeverFinishedKeepOthersOutUntilTheirClientsGo() throws Exception {
    List<Socket> unfinished = new ArrayList<>();
    for (long taken = 0; taken < DataPlane.ROOM_BYTES; taken += RequestBody.MAX_BYTES) {
      Socket socket = connect();
      unfinished.add(socket);
      socket
          .getOutputStream()
          .write(
              ("POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: "
                      + RequestBody.MAX_BYTES
                      + "\r\n\r\n")
                  .getBytes(UTF_8));
      socket.getOutputStream().write(new byte[RequestBody.MAX_BYTES - 1]);
    }

    await().untilAsserted(() -> assertThat(post("{'key':'acme'}").statusCode()).isEqualTo(413));
    assertThat(header(post("{'key':'acme'}"), "Retry-After")).isEqualTo("1");

    for (Socket socket : unfinished) {
      socket.close();
    }
    await().untilAsserted(() -> assertThat(post("{'key':'acme'}").statusCode()).isEqualTo(200));
  }

  @Test
  void aBodyOfExactlyTheLargestSizeIsRead() throws Exception {
    String check = "{\"key\":\"acme\"}";

    assertThat(post(check + " ".repeat((1 << 20) - check.length())).statusCode()).isEqualTo(200);
    assertThat(post(check + " ".repeat((1 << 20) + 1 - check.length())).statusCode())
        .isEqualTo(413);
  }

  @Test
  void aClientThatAsksBeforeItSendsIsToldToGoOn() throws Exception {
    try (Socket socket = connect()) {
      String body = "{\"key\":\"acme\"}";
      String headers = "Content-Length: " + body.length() + "\r\nExpect: 100-continue\r\n";
      socket
          .getOutputStream()
          .write(bytes("POST /v1/check HTTP/1.1\r\nHost: x\r\n" + headers + CLOSE));
      InputStream in = socket.getInputStream();
      String goOn = "HTTP/1.1 100 Continue\r\n\r\n";
      assertThat(new String(in.readNBytes(goOn.length()), UTF_8)).isEqualTo(goOn);
      socket.getOutputStream().write(bytes(body));

      assertThat(new String(in.readAllBytes(), UTF_8)).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void pipelinedChecksAreAnsweredInOrder() throws Exception {
    String post = "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{\"key\":\"b\"}";
    String get = "GET /v1/check?key=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    String answers = raw("GET /v1/check?key=a HTTP/1.1\r\nHost: x\r\n\r\n" + post + get);

    assertThat(answers.split("HTTP/1.1 200 OK")).hasSize(4);
    assertThat(answers.indexOf("\"key\":\"a\"")).isLessThan(answers.indexOf("\"key\":\"b\""));
    assertThat(answers.indexOf("\"key\":\"b\"")).isLessThan(answers.indexOf("\"key\":\"c\""));
  }

  @Test
  void checksComeOverHttp2AsWell() throws Exception {
    HttpClient http2 = HttpClient.newHttpClient();
    HttpRequest get = request("/v1/check?key=acme").GET().build();
    String body = "{\"key\":\"acme\",\"cost\":10}";
    HttpRequest post = request("/v1/check").POST(BodyPublishers.ofString(body)).build();
    String large = " ".repeat((1 << 20) + 1);
    HttpRequest tooLarge = request("/v1/check").POST(BodyPublishers.ofString(large)).build();

    assertThat(ApiContract.DATA_PLANE.send(http2, get).statusCode()).isEqualTo(200);
    HttpResponse<String> denied = ApiContract.DATA_PLANE.send(http2, post);
    assertThat(denied.version()).isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(denied.statusCode()).isEqualTo(429);
    assertThat(header(denied, "X-RateLimit-Remaining")).isEqualTo("9");
    assertThat(ApiContract.DATA_PLANE.send(http2, tooLarge).statusCode()).isEqualTo(413);
    assertThat(ApiContract.DATA_PLANE.send(http2, get).statusCode()).isEqualTo(200);
  }

  @Test
  void theTokenIsAskedForWhenThereIsOne() throws Exception {
    server = listen(Optional.of("s3cret-ü"));
    HttpResponse<String> none = send("GET", "/v1/check?key=acme", BodyPublishers.noBody());
    assertProblem(none, 401);
    assertThat(header(none, "WWW-Authenticate")).isEqualTo("Bearer realm=\"weir\"");

    for (String wrong : new String[] {"Bearer", "Bearer ", "Bearer s3cret", "Basic s3cret-ü"}) {
      assertThat(authorized(wrong)).startsWith("HTTP/1.1 401 ");
    }
    assertThat(limiter.used("acme")).isZero();
    assertThat(authorized("bearer s3cret-ü")).startsWith("HTTP/1.1 200 ");
    assertThat(limiter.used("acme")).isEqualTo(1);
  }

  private String authorized(String header) throws IOException {
    return raw(
        "GET /v1/check?key=acme HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: "
            + header
            + "\r\n\r\n");
  }

  private static String batchOf(int size) {
    return IntStream.range(0, size)
        .mapToObj(i -> "{'key':'k" + i + "'}")
        .collect(Collectors.joining(",", "{'checks':[", "]}"));
  }

  private static void assertProblem(HttpResponse<String> response, int status) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    JsonObject problem = new JsonObject(response.body());
    assertThat(problem.fieldNames()).containsExactly("type", "title", "status", "detail");
    assertThat(problem.getInteger("status")).isEqualTo(status);
  }

  private static String header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name).orElse("absent");
  }

  private HttpResponse<String> post(String body) throws Exception {
    return send("POST", "/v1/check", BodyPublishers.ofString(quoted(body)));
  }

  private HttpResponse<String> postBatch(String body) throws Exception {
    return send("POST", "/v1/check/batch", BodyPublishers.ofString(quoted(body)));
  }

  private HttpResponse<String> send(String method, String path, BodyPublisher body)
      throws Exception {
    return ApiContract.DATA_PLANE.send(client, request(path).method(method, body).build());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.actualPort() + path));
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), server.actualPort());
  }

  /** What comes back until the server closes. */
  private String raw(String request) throws IOException {
    try (Socket socket = connect()) {
      socket.getOutputStream().write(bytes(request));
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String quoted(String json) {
    return json.replace('\'', '"');
  }
}
