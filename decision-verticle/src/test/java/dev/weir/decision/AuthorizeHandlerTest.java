package dev.weir.decision;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.ApiContract;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.PlansFile;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuthorizeHandlerTest {

  private static final long NOW = 1_700_000_000_000L;

  private final Vertx vertx = Vertx.vertx();
  private final FakeLimiter limiter = new FakeLimiter();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private int port;

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private void listen(String gateway, Optional<String> token, String... trustedProxies) {
    PlansFile file = PlansFile.parse("plans: {p: {rate: 1}}\nendpoints: {search: 3}\n" + gateway);
    ConfigSnapshot config =
        new ConfigSnapshot(
            1, Optional.empty(), file.plans(), file.endpoints(), file.gateway(), Map.of());
    List<AddressBlock> trusted = Arrays.stream(trustedProxies).map(AddressBlock::parse).toList();
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(DataPlane.of(limiter, NOW, token, config, trusted))
            .listen(0, "127.0.0.1")
            .await();
    port = server.actualPort();
  }

  private void listen() {
    listen("", Optional.empty());
  }

  @Test
  void anAllowedRequestIsAnsweredWith200AndNoBody() throws Exception {
    listen();
    HttpResponse<String> response = get("/v1/authorize", "X-Api-Key", "acme");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEmpty();
    assertThat(header(response, "Content-Length")).isEqualTo("0");
    assertThat(header(response, "Cache-Control")).isEqualTo("no-store");
    assertThat(header(response, "X-RateLimit-Limit")).isEqualTo("10");
    assertThat(header(response, "X-RateLimit-Remaining")).isEqualTo("9");
    assertThat(header(response, "X-RateLimit-Reset")).isEqualTo("1700000001");
    assertThat(header(response, "X-RateLimit-Stale")).isEqualTo("0.0");
    assertThat(header(response, "RateLimit-Policy")).isEqualTo("\"default\";q=10;w=10");
    assertThat(header(response, "RateLimit")).isEqualTo("\"default\";r=9;t=1");
    assertThat(header(response, "X-Weir-Key")).isEqualTo("acme");
    assertThat(header(response, "X-Weir-Plan")).isEqualTo("free");
    assertThat(response.headers().map()).doesNotContainKeys("content-type", "retry-after");
  }

  @Test
  void aDeniedRequestIsAnsweredLikeADeniedCheck() throws Exception {
    listen();
    exhaust("acme");
    HttpResponse<String> response = get("/v1/authorize", "X-Api-Key", "acme");

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(header(response, "Retry-After")).isEqualTo("1");
    assertThat(header(response, "RateLimit")).isEqualTo("\"default\";r=0;t=10");
    assertThat(header(response, "X-Weir-Key")).isEqualTo("acme");
    assertThat(header(response, "X-Weir-Plan")).isEqualTo("free");
    JsonObject problem = new JsonObject(response.body());
    assertThat(problem.getInteger("status")).isEqualTo(429);
    assertThat(problem.getString("reason")).isEqualTo("limit");
  }

  @Test
  void aRefusalSinceTheStoreIsAwayIsNoDenialWhateverTheGatewayWants() throws Exception {
    listen();
    HttpResponse<String> response = get("/v1/authorize?deny=403", "X-Api-Key", "refused");

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(header(response, "Retry-After")).isEqualTo("1");
    assertThat(header(response, "X-Weir-Key")).isEqualTo("refused");
    assertThat(new JsonObject(response.body()).getInteger("status")).isEqualTo(503);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 404, 429, 499})
  void aDenialHasTheStatusThatTheGatewayWants(int status) throws Exception {
    listen();
    assertThat(get("/v1/authorize?deny=" + status, "X-Api-Key", "acme").statusCode())
        .isEqualTo(200);
    exhaust("acme");
    HttpResponse<String> response = get("/v1/authorize?deny=" + status, "X-Api-Key", "acme");

    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(header(response, "Retry-After")).isEqualTo("1");
    assertThat(new JsonObject(response.body()).getInteger("status")).isEqualTo(status);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "deny=200",
        "deny=",
        "deny",
        "deny=500",
        "deny=399",
        "deny=4030",
        "deny=403&deny=403",
        "deny=%34%30%33",
        "x=1&deny=302"
      })
  void noOtherStatusCanBeHad(String query) throws Exception {
    listen();
    HttpResponse<String> response = get("/v1/authorize?" + query, "X-Api-Key", "acme");

    boolean unasked = query.equals("deny");
    assertThat(response.statusCode()).isEqualTo(unasked ? 200 : 400);
    assertThat(limiter.used("acme")).isEqualTo(unasked ? 1 : 0);
    assertThat(header(response, "X-Weir-Key")).isEqualTo(unasked ? "acme" : "");
  }

  @Test
  void theQueryBehindALongerPathIsTheClientsAndHarmless() throws Exception {
    listen();
    assertThat(get("/v1/authorize/a?deny=all", "X-Api-Key", "acme").statusCode()).isEqualTo(200);
    exhaust("acme");
    assertThat(get("/v1/authorize/a?deny=200", "X-Api-Key", "acme").statusCode()).isEqualTo(429);
    assertThat(get("/v1/authorize/a?deny=403", "X-Api-Key", "acme").statusCode()).isEqualTo(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"})
  void everyMethodIsAnswered(String method) throws Exception {
    listen();
    exhaust("denied");
    for (String path : List.of("/v1/authorize", "/v1/authorize/", "/v1/authorize/a/b?c=d")) {
      assertThat(send(method, path, "X-Api-Key", "acme").statusCode()).isEqualTo(200);
      HttpResponse<String> denied = send(method, path, "X-Api-Key", "denied");
      assertThat(denied.statusCode()).isEqualTo(429);
      assertThat(denied.body().isEmpty()).isEqualTo(method.equals("HEAD"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/authorizer", "/v1/authoriz", "/v1/Authorize", "/v1"})
  void otherPathsAreOthers(String path) throws Exception {
    listen();
    assertThat(get(path, "X-Api-Key", "acme").statusCode()).isEqualTo(404);
  }

  @Test
  void theKeyIsTheApiKeyThenTheBearerTokenThenTheAddress() throws Exception {
    listen();
    assertThat(keyOf("X-Api-Key", "acme", "Authorization", "Bearer tok")).isEqualTo("acme");
    assertThat(keyOf("Authorization", "Bearer tok")).isEqualTo("tok");
    assertThat(keyOf("X-Api-Key", "", "Authorization", "bearer tok")).isEqualTo("tok");
    assertThat(keyOf("Authorization", "Basic YTpi")).isEqualTo("ip:127.0.0.1");
    assertThat(keyOf()).isEqualTo("ip:127.0.0.1");
  }

  @Test
  void theOrderOfKeysIsConfigured() throws Exception {
    listen("gateway: {keys: [bearer, header X-User]}", Optional.empty());
    assertThat(keyOf("X-User", "u", "Authorization", "Bearer tok")).isEqualTo("tok");
    assertThat(keyOf("x-user", "u", "X-Api-Key", "acme")).isEqualTo("u");
    assertThat(keyOf("X-Api-Key", "acme")).isEqualTo("ip:127.0.0.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ip:10.0.0.1", "ip:127.0.0.1", "sha256:00"})
  void aHeaderThatIsNoKeyFallsToTheAddress(String value) throws Exception {
    listen();
    String answer = raw("GET /v1/authorize HTTP/1.1\r\nHost: a\r\nX-Api-Key: " + value);
    assertThat(answer).startsWith("HTTP/1.1 200").contains("X-Weir-Key: ip:127.0.0.1\r\n");
  }

  @Test
  void twoApiKeysFallToTheAddress() throws Exception {
    listen();
    assertThat(keyOf("X-Api-Key", "acme", "X-Api-Key", "junk")).isEqualTo("ip:127.0.0.1");
  }

  @Test
  void aHugeTokenIsAKeyByItsDigest() throws Exception {
    listen();
    assertThat(keyOf("Authorization", "Bearer " + "t".repeat(4000))).matches("sha256:[0-9a-f]{64}");
  }

  @Test
  void theKeyInTheReplyIsPrintableAscii() throws Exception {
    listen();
    String answer = raw("GET /v1/authorize HTTP/1.1\r\nHost: a\r\nX-Api-Key: ü 100%");
    assertThat(answer).contains("X-Weir-Key: %C3%BC%20100%25\r\n");
    assertThat(limiter.used("ü 100%")).isEqualTo(1);
  }

  @Test
  void theAddressOfATrustedProxyIsNotTheClients() throws Exception {
    listen("", Optional.empty(), "127.0.0.0/8", "10.0.0.0/8");
    assertThat(keyOf("X-Forwarded-For", "8.8.8.8, 198.51.100.1, 10.0.0.1"))
        .isEqualTo("ip:198.51.100.1");
    assertThat(keyOf("X-Forwarded-For", "8.8.8.8", "X-Forwarded-For", "2001:db8:1:2:3::4"))
        .isEqualTo("ip:2001:db8:1:2::/64");
  }

  @Test
  void nobodyElseIsBelieved() throws Exception {
    listen("", Optional.empty(), "10.0.0.0/8");
    assertThat(keyOf("X-Forwarded-For", "198.51.100.1")).isEqualTo("ip:127.0.0.1");
  }

  @Test
  void theRequestIsWhatTheGatewaySaysOfIt() throws Exception {
    listen(
        "gateway: {rules: ['GET /bad/** -> degraded', 'PUT /worse/* -> degraded']}",
        Optional.empty());
    assertThat(isAtRule("/v1/authorize")).isFalse();
    assertThat(isAtRule("/v1/authorize/bad/x")).isTrue();
    assertThat(isAtRule("/v1/authorize//./%62ad?x")).isTrue();
    assertThat(isAtRule("/v1/authorize", "X-Forwarded-Uri", "/bad?q=1")).isTrue();
    assertThat(isAtRule("/v1/authorize", "X-Original-URI", "/bad/x")).isTrue();
    assertThat(
            isAtRule("/v1/authorize", "X-Forwarded-Method", "PUT", "X-Forwarded-Uri", "/worse/x"))
        .isTrue();
    assertThat(isAtRule("/v1/authorize", "X-Original-Method", "PUT", "X-Original-URI", "/worse/x"))
        .isTrue();
    assertThat(isAtRule("/v1/authorize", "X-Forwarded-Method", "PUT", "X-Forwarded-Uri", "/bad"))
        .isFalse();
    // One gateway's headers are not mixed with another's.
    assertThat(isAtRule("/v1/authorize", "X-Original-Method", "PUT", "X-Forwarded-Uri", "/worse/x"))
        .isFalse();
    assertThat(isAtRule("/v1/authorize/bad", "X-Forwarded-Uri", "/good")).isFalse();
    assertThat(isAtRule("/v1/authorize", "X-Original-URI", "/bad", "X-Forwarded-Uri", "/good"))
        .isFalse();
    // The nearest proxy has the last word.
    assertThat(isAtRule("/v1/authorize", "X-Forwarded-Uri", "/good", "X-Forwarded-Uri", "/bad"))
        .isTrue();
  }

  @Test
  void aKeyWithoutPlanIsRefused() throws Exception {
    listen();
    HttpResponse<String> response = get("/v1/authorize", "X-Api-Key", "stranger");
    assertThat(response.statusCode()).isEqualTo(403);
    assertThat(header(response, "X-Weir-Key")).isEmpty();
    assertThat(header(response, "X-Weir-Plan")).isEmpty();
    assertThat(response.headers().firstValue("RateLimit")).isEmpty();
  }

  @Test
  void theTokenOfTheNodeComesInEitherHeader() throws Exception {
    listen("", Optional.of("s3cret"));
    assertThat(get("/v1/authorize", "X-Api-Key", "acme").statusCode()).isEqualTo(401);
    assertThat(get("/v1/authorize", "X-Weir-Token", "wrong").statusCode()).isEqualTo(401);
    assertThat(get("/v1/authorize", "Authorization", "Bearer wrong").statusCode()).isEqualTo(401);
    assertThat(get("/v1/check?key=a", "X-Weir-Token", "s3cret").statusCode()).isEqualTo(401);

    // In Authorization it is no key; elsewhere the client's token is.
    assertThat(keyOf("Authorization", "Bearer s3cret")).isEqualTo("ip:127.0.0.1");
    assertThat(keyOf("X-Weir-Token", "s3cret", "Authorization", "Bearer tok")).isEqualTo("tok");
  }

  @Test
  void aBodyIsLetGoBy() throws Exception {
    listen();
    HttpResponse<String> response =
        ApiContract.DATA_PLANE.send(
            client,
            request("/v1/authorize", "X-Api-Key", "acme")
                .POST(BodyPublishers.ofByteArray(new byte[3_000_000]))
                .build());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(raw("POST /v1/authorize HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000"))
        .startsWith("HTTP/1.1 200");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET http://host/v1/authorize/x HTTP/1.1 | 200",
        "GET /v1/authorize/%zz%%%2 HTTP/1.1 | 200",
        "GET /v1/authorize/\\..\\;#? HTTP/1.1 | 200",
        "GET /v1/authorize/../../.. HTTP/1.1 | 200",
        "GET /v1/authorize?%deny=&&&= HTTP/1.1 | 200",
        "OPTIONS * HTTP/1.1 | 404",
        "CONNECT host:80 HTTP/1.1 | 404",
      })
  void strangeRequestLinesAreNoFaultOfOurs(String line, int status) throws Exception {
    listen("gateway: {rules: ['GET /search/** -> search']}", Optional.empty());
    assertThat(raw(line + "\r\nHost: a\r\nUpgrade: websocket\r\nExpect: 100-continue"))
        .startsWith("HTTP/1.1 " + status);
  }

  private void exhaust(String key) throws Exception {
    while (get("/v1/authorize", "X-Api-Key", key).statusCode() == 200) {
      // Ten of them at most.
    }
  }

  private String keyOf(String... headers) throws Exception {
    HttpResponse<String> response = get("/v1/authorize", headers);
    assertThat(response.statusCode()).isEqualTo(200);
    return header(response, "X-Weir-Key");
  }

  /** The rules name an endpoint that shows in the answer. */
  private boolean isAtRule(String path, String... headers) throws Exception {
    HttpRequest.Builder request = request(path, headers).header("X-Api-Key", "key" + Math.random());
    HttpResponse<String> response = ApiContract.DATA_PLANE.send(client, request.GET().build());
    assertThat(response.statusCode()).isEqualTo(200);
    return response.headers().firstValue("X-RateLimit-Degraded").isPresent();
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    return send("GET", path, headers);
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws Exception {
    return ApiContract.DATA_PLANE.send(
        client, request(path, headers).method(method, BodyPublishers.noBody()).build());
  }

  private HttpRequest.Builder request(String path, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    return headers.length == 0 ? request : request.headers(headers);
  }

  private static String header(HttpResponse<String> response, String name) {
    assertThat(response.headers().allValues(name)).as(name).hasSize(1);
    return response.headers().firstValue(name).orElseThrow();
  }

  /** The first bytes of the answer to a head that no client of HTTP would send. */
  private String raw(String head) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write((head + "\r\n\r\n").getBytes(UTF_8));
      byte[] bytes = new byte[4096];
      int read = socket.getInputStream().read(bytes);
      return new String(bytes, 0, Math.max(read, 0), UTF_8);
    }
  }
}
