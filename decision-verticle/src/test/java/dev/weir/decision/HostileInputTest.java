package dev.weir.decision;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.ApiContract;
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
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever a caller sends, it gets a decision or is told of its mistake. */
class HostileInputTest {

  private static final Vertx VERTX = Vertx.vertx();
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static HttpServer server;

  @BeforeContainer
  static void listen() {
    server =
        VERTX
            .createHttpServer()
            .requestHandler(DataPlane.of(new FakeLimiter(), 0, Optional.empty()))
            .listen(0, "127.0.0.1")
            .await();
  }

  @AfterContainer
  static void close() {
    VERTX.close().await();
  }

  @Provide
  Arbitrary<byte[]> bytes() {
    return Arbitraries.bytes().array(byte[].class).ofMaxSize(200);
  }

  /** Pieces of checks in any order, most of them a hair off from being one. */
  @Provide
  Arbitrary<String> almostChecks() {
    return Arbitraries.of(
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"key\":",
            "\"a\"",
            "\"checks\":[",
            "\"cost\":",
            "\"plan\":\"gold\"",
            "1",
            "-",
            "1.5",
            "e9",
            "null",
            "true",
            "\\ud83d",
            "\\u0000",
            "\\",
            "\ufeff",
            "🙂",
            "\u0000",
            " ",
            "{\"key\":\"a\"}",
            "{\"key\":\"a\",\"cost\":")
        .list()
        .ofMaxSize(12)
        .map(pieces -> String.join("", pieces));
  }

  @Provide
  Arbitrary<String> almostQueries() {
    return Arbitraries.of(
            "key=",
            "key",
            "cost=",
            "plan=gold",
            "&",
            "=",
            "%",
            "%4",
            "%41",
            "%00",
            "%ff",
            "%c3",
            "%bc",
            "%f0%9f%99%82",
            "+",
            ";",
            "?",
            "#",
            "/",
            "1",
            "a",
            "\u0000",
            "ü",
            "\u007f",
            "\"")
        .list()
        .ofMaxSize(12)
        .map(pieces -> String.join("", pieces));
  }

  @Property(tries = 500)
  void anyBytesAsABodyAreADecisionOrAMistake(@ForAll("bytes") byte[] body) throws Exception {
    assertAnswered("/v1/check", body);
    assertAnswered("/v1/check/batch", body);
  }

  @Property(tries = 1000)
  void anythingLikeACheckIsADecisionOrAMistake(@ForAll("almostChecks") String body)
      throws Exception {
    assertAnswered("/v1/check", body.getBytes(UTF_8));
    assertAnswered("/v1/check/batch", body.getBytes(UTF_8));
  }

  @Property(tries = 500)
  void anyQueryIsADecisionOrAMistake(@ForAll("almostQueries") String query) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
      String head = "GET /v1/check?" + query + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(UTF_8));

      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .matches("(?s)HTTP/1\\.1 (200|400|403|404|429) .*");
    }
  }

  private static void assertAnswered(String path, byte[] body)
      throws IOException, InterruptedException {
    HttpResponse<String> response =
        ApiContract.DATA_PLANE.send(
            CLIENT,
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.actualPort() + path))
                .POST(BodyPublishers.ofByteArray(body))
                .build());

    assertThat(response.statusCode()).isIn(200, 400, 403, 404, 429);
    assertThat(new JsonObject(response.body()).isEmpty()).isFalse();
  }
}
