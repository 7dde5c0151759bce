package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is asked of another region, and what is made of its answers. */
class RegionPeerTest {

  private static final JsonObject QUESTION = new JsonObject().put("region", "eu");

  private Vertx vertx;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private RegionPeer peer(Consumer<HttpServerRequest> answer) throws Exception {
    int port =
        vertx
            .createHttpServer()
            .requestHandler(answer::accept)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS)
            .actualPort();
    return new RegionPeer(
        vertx.createHttpClient(),
        new RegionAddress("us", URI.create("http://127.0.0.1:" + port)),
        new Secret("r3gion"));
  }

  private static JsonObject ask(RegionPeer peer) throws Exception {
    return peer.ask(QUESTION).toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void questionIsPutWithTheToken() throws Exception {
    RegionPeer peer =
        peer(
            request ->
                request
                    .body()
                    .onSuccess(
                        body ->
                            request
                                .response()
                                .end(
                                    new JsonObject()
                                        .put("asked", body.toJsonObject())
                                        .put("path", request.method() + " " + request.path())
                                        .put("token", request.getHeader("Authorization"))
                                        .encode())));

    assertThat(peer.answered()).isEmpty();
    assertThat(ask(peer))
        .isEqualTo(
            new JsonObject()
                .put("asked", QUESTION)
                .put("path", "POST /regions/exchange")
                .put("token", "Bearer r3gion"));
    assertThat(peer.answered()).isEqualTo(Optional.of(true));
    assertThat(peer.asking()).isFalse();
  }

  @Test
  void whatIsNoAnswerIsToldAsNone() throws Exception {
    assertNoAnswer(request -> request.response().setStatusCode(401).end("{}"), "status 401");
    assertNoAnswer(request -> request.response().end("[]"), "no JSON object");
    assertNoAnswer(request -> request.response().end("nonsense"), "no JSON object");
    assertNoAnswer(
        request -> request.response().end("\"" + "x".repeat(RegionPeer.MAX_BYTES) + "\""),
        "more than");
  }

  @Test
  void regionThatDoesNotAnswerIsGivenUp() throws Exception {
    assertNoAnswer(request -> {}, "");
  }

  private void assertNoAnswer(Consumer<HttpServerRequest> answer, String reason) throws Exception {
    RegionPeer peer = peer(answer);
    assertThatThrownBy(() -> ask(peer)).hasMessageContaining(reason);
    assertThat(peer.answered()).isEqualTo(Optional.of(false));
    assertThat(peer.asking()).isFalse();
  }
}
