package dev.weir.node;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.weir.node.GatewayProcess.Kind;
import io.vertx.core.json.JsonArray;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Real gateways with the configurations of {@code deploy/gateways} in front of an application, a
 * real node beside them, and clients that are not to be trusted.
 */
final class GatewayIT {

  /** The gateways ask from 127.0.0.1. */
  private static final String CLIENT = "127.0.0.2";

  private static final String PLANS =
      """
      default_plan: null
      plans:
        free: {rate: 1, period: 1h, capacity: 20}
        gold: {rate: 1, period: 1h, capacity: 1000}
      endpoints: {search: 10, health: 0}
      gateway:
        keys: [header X-Api-Key, bearer, address]
        rules:
          - "GET /health -> health"
          - "GET /search/** -> search"
      """;

  private static final Map<Kind, GatewayProcess> GATEWAYS = new EnumMap<>(Kind.class);

  private static EchoingApplication application;
  private static RunningNode node;

  @BeforeAll
  static void start(@TempDir Path directory) throws IOException {
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_TRUSTED_PROXIES", "127.0.0.1/32");
    settings.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    Path plans = Files.writeString(directory.resolve("plans.yaml"), PLANS);
    settings.put("WEIR_PLANS", plans.toString());
    node = RunningNode.start(settings);
    application = new EchoingApplication();
    for (Kind kind : Kind.values()) {
      if (kind.executable().isPresent()) {
        GATEWAYS.put(
            kind, new GatewayProcess(kind, node.client().data().getPort(), application.port()));
      }
    }
  }

  @AfterAll
  static void stop() {
    GATEWAYS.values().forEach(GatewayProcess::close);
    GATEWAYS.clear();
    application.close();
    node.close();
  }

  @ParameterizedTest
  @EnumSource
  void anAllowedRequestReachesTheApplicationAndTheClientIsToldItsNumbers(Kind kind)
      throws IOException {
    String key = key(kind, "allowed", "gold");
    Answer answer = get(kind, "/things?a=b", CLIENT, "X-Api-Key: " + key);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(seen(answer, "X-Weir-Key")).containsExactly(key);
    assertThat(seen(answer, "X-Weir-Plan")).containsExactly("gold");
    assertThat(answer.header("X-RateLimit-Limit")).isEqualTo("1000");
    assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo("999");
    assertThat(answer.header("X-RateLimit-Reset")).matches("[0-9]{10,}");
    assertThat(answer.header("RateLimit")).startsWith("\"default\";r=999;t=");
    assertThat(answer.header("RateLimit-Policy")).startsWith("\"default\";q=1000;w=");
    assertThat(answer.hasHeader("Retry-After")).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aDeniedRequestDoesNotAndTheClientIsToldWhenToComeBack(Kind kind) throws IOException {
    String key = key(kind, "denied", "free");
    assertThat(get(kind, "/search/a", CLIENT, "X-Api-Key: " + key).status()).isEqualTo(200);
    assertThat(get(kind, "/search/b", CLIENT, "X-Api-Key: " + key).status()).isEqualTo(200);
    int before = application.requests();
    Answer answer = get(kind, "/search/c", CLIENT, "X-Api-Key: " + key);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(429);
    assertThat(application.requests()).isEqualTo(before);
    assertThat(Long.parseLong(answer.header("Retry-After"))).isBetween(35_000L, 36_000L);
    assertThat(answer.header("X-RateLimit-Limit")).isEqualTo("20");
    assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo("0");
    assertThat(answer.hasHeader("X-RateLimit-Reset")).isTrue();
    assertThat(answer.header("RateLimit")).startsWith("\"default\";r=0;t=");
    assertThat(answer.header("RateLimit-Policy")).startsWith("\"default\";q=20;w=");
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.json().getString("type")).endsWith("#quota-exceeded");
    assertThat(answer.json().getInteger("status")).isEqualTo(429);

    // What costs nothing is still free.
    assertThat(get(kind, "/health", CLIENT, "X-Api-Key: " + key).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @EnumSource
  void aKeyWithoutPlanIsRefusedForGood(Kind kind) throws IOException {
    int before = application.requests();
    Answer answer = get(kind, "/things", CLIENT, "X-Api-Key: stranger");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(403);
    assertThat(application.requests()).isEqualTo(before);
    assertThat(answer.hasHeader("Retry-After")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /search, 10",
    "GET, /search/a/b?c=/health, 10",
    "HEAD, /search/a, 10",
    "POST, /search/a, 1",
    "GET, /health, 0",
    "GET, /health?/search/a, 0",
    "GET, /other, 1",
    "GET, //search/a, 10",
    "GET, /./search/a, 10",
    "GET, /%73earch/a, 10",
    "GET, /health/../search/a, 10",
    "GET, /health/%2e%2e/search/a, 10",
    "GET, /health/..%2fsearch, 10",
    "GET, /search%2Fa, 10",
    "GET, /search;a=b/a, 10",
  })
  void theRulesSayWhatARequestCosts(String method, String target, long cost) throws IOException {
    assumeThat(GATEWAYS).as("gateways that are installed").isNotEmpty();
    for (Kind kind : GATEWAYS.keySet()) {
      String key = key(kind, method + target, "gold");
      Answer answer = send(kind, method, target, CLIENT, "X-Api-Key: " + key);

      assertThat(1000 - Long.parseLong(answer.header("X-RateLimit-Remaining")))
          .as(kind + ": " + answer)
          .isEqualTo(cost);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theKeyIsTheApiKeyThenTheBearerTokenThenTheAddress(Kind kind) throws IOException {
    String key = key(kind, "key", "gold");
    String token = key(kind, "token", "gold");
    node.client().assign("ip:127.0.0.3", "gold");

    assertThat(
            seen(
                get(kind, "/", CLIENT, "X-Api-Key: " + key, "Authorization: Bearer " + token),
                "X-Weir-Key"))
        .containsExactly(key);
    assertThat(seen(get(kind, "/", CLIENT, "Authorization: Bearer " + token), "X-Weir-Key"))
        .containsExactly(token);
    assertThat(seen(get(kind, "/", "127.0.0.3"), "X-Weir-Key")).containsExactly("ip:127.0.0.3");
    assertThat(seen(get(kind, "/", "127.0.0.3", "Authorization: Basic YTpi"), "X-Weir-Key"))
        .containsExactly("ip:127.0.0.3");
  }

  @ParameterizedTest
  @EnumSource
  void aClientCannotSayWhoItIs(Kind kind) throws IOException {
    node.client().assign("ip:127.0.0.4", "gold");
    Answer answer =
        get(
            kind,
            "/things",
            "127.0.0.4",
            "X-Api-Key: ip:8.8.8.8",
            "X-Weir-Key: admin",
            "x-weir-key: root",
            "X-Weir-Plan: internal",
            "X-Forwarded-For: 8.8.8.8",
            "X-Forwarded-For: 9.9.9.9, 127.0.0.1",
            "X-Real-IP: 8.8.8.8",
            "Forwarded: for=8.8.8.8",
            "X-Weir-Token: guess");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(seen(answer, "X-Weir-Key")).containsExactly("ip:127.0.0.4");
    assertThat(seen(answer, "X-Weir-Plan")).containsExactly("gold");
  }

  @ParameterizedTest
  @EnumSource
  void aClientCannotSayWhatItAsksFor(Kind kind) throws IOException {
    String key = key(kind, "uri", "gold");
    Answer answer =
        get(
            kind,
            "/search/a?deny=200",
            CLIENT,
            "X-Api-Key: " + key,
            "X-Forwarded-Uri: /health",
            "X-Forwarded-Method: POST",
            "X-Original-URI: /health",
            "X-Original-Method: POST",
            "X-HTTP-Method-Override: POST");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo("990");
  }

  @ParameterizedTest
  @EnumSource
  void aRequestWithABodyIsDecidedAndDelivered(Kind kind) throws IOException {
    String key = key(kind, "body", "gold");
    String body = "b".repeat(100_000);
    assumeThat(GATEWAYS).as(kind + " is not installed").containsKey(kind);
    Answer answer = ask(GATEWAYS.get(kind), "POST", "/things", body, CLIENT, "X-Api-Key: " + key);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(seen(answer, "Content-Length")).containsExactly("100000");
  }

  /** What makes a question fail must not make it fail open. */
  @ParameterizedTest
  @EnumSource
  void noValueGetsPastWeir(Kind kind) throws IOException {
    String longest = "ü".repeat(500) + "-" + kind;
    node.client().assign(longest, "gold");
    List<String> values =
        new ArrayList<>(List.of("a\u0001b", "a\u000bb", "a\u007fb", "\u00ff", "\""));
    values.add(new String(longest.getBytes(UTF_8), ISO_8859_1));
    for (int size : new int[] {1024, 1025, 4000, 7900, 8100, 12_000, 14_000, 16_300, 40_000}) {
      values.add("k".repeat(size));
    }
    for (int size = 15_000; size < 15_400; size += 40) {
      values.add("k".repeat(size));
    }
    for (String value : values) {
      assertLimitedOrRefused(kind, "/", "X-Api-Key: " + value);
      assertLimitedOrRefused(kind, "/", "Authorization: Bearer " + value);
      assertLimitedOrRefused(kind, "/", "X-Forwarded-For: " + value);
      assertLimitedOrRefused(kind, "/" + value);
      assertLimitedOrRefused(kind, "/?" + value);
    }
  }

  private static void assertLimitedOrRefused(Kind kind, String target, String... headers)
      throws IOException {
    node.client().assign("ip:127.0.0.5", "gold");
    Answer answer = get(kind, target, "127.0.0.5", headers);
    assertThat(answer.status() >= 400 || answer.hasHeader("RateLimit"))
        .as("%s %.40s %.60s: %s", kind, target, String.join(",", headers), answer)
        .isTrue();
  }

  /** Caddy cannot tell Weir's failure from the application's, and refuses. */
  @ParameterizedTest
  @CsvSource({"NGINX, 200", "HAPROXY, 200", "CADDY, 502"})
  void withoutWeirRequestsPassAsNobodys(Kind kind, int status) throws IOException {
    assumeThat(kind.executable()).isPresent();
    try (GatewayProcess alone = new GatewayProcess(kind, FreePorts.next(), application.port())) {
      Answer answer =
          ask(alone, "GET", "/search/a", "", CLIENT, "X-Weir-Key: admin", "X-Weir-Plan: p");

      assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
      if (status == 200) {
        assertThat(seen(answer, "X-Weir-Key")).allMatch(""::equals);
        assertThat(seen(answer, "X-Weir-Plan")).allMatch(""::equals);
        assertThat(answer.hasHeader("RateLimit")).isFalse();
      }
    }
  }

  /** A key that no other test uses. */
  private static String key(Kind kind, String purpose, String plan) {
    String key = kind + "-" + purpose;
    node.client().assign(key, plan);
    return key;
  }

  /** The values that the application saw of a header of the request. */
  private static List<Object> seen(Answer answer, String name) {
    return answer.json().getJsonArray(name.toLowerCase(Locale.ROOT), new JsonArray()).stream()
        .toList();
  }

  private static Answer get(Kind kind, String target, String from, String... headers)
      throws IOException {
    return send(kind, "GET", target, from, headers);
  }

  private static Answer send(
      Kind kind, String method, String target, String from, String... headers) throws IOException {
    assumeThat(GATEWAYS).as(kind + " is not installed").containsKey(kind);
    return ask(GATEWAYS.get(kind), method, target, "", from, headers);
  }

  /** By hand: from an address of our choice, with headers and paths that no client would send. */
  private static Answer ask(
      GatewayProcess gateway,
      String method,
      String target,
      String body,
      String from,
      String... headers)
      throws IOException {
    String request =
        method
            + " "
            + target
            + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            + String.join("", List.of(headers).stream().map(header -> header + "\r\n").toList())
            + (body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n")
            + "\r\n"
            + body;
    try (Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(from, 0));
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write(request.getBytes(ISO_8859_1));
      return parse(new String(socket.getInputStream().readAllBytes(), ISO_8859_1));
    }
  }

  private static Answer parse(String text) {
    int end = text.indexOf("\r\n\r\n");
    assertThat(end).as(text).isPositive();
    String[] head = text.substring(0, end).split("\r\n", -1);
    Map<String, List<String>> headers = new HashMap<>();
    for (int i = 1; i < head.length; i++) {
      String[] field = head[i].split(":", 2);
      headers.computeIfAbsent(field[0], name -> new ArrayList<>()).add(field[1].strip());
    }
    return new Answer(
        Integer.parseInt(head[0].split(" ", 3)[1]),
        HttpHeaders.of(headers, (name, value) -> true),
        text.substring(end + 4));
  }
}
