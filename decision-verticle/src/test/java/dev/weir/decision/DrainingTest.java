package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientConnection;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnectOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpVersion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How callers on connections that are kept learn that a node is to stop. */
class DrainingTest {

  private static final long PATIENCE_SECONDS = 20;

  private final Vertx vertx = Vertx.vertx();
  private final Draining draining = new Draining(request -> request.response().end("decided"));
  private HttpServer server;

  /** Vert.x closes one that nobody holds. */
  private HttpClientAgent client;

  @BeforeEach
  void listen() throws Exception {
    server = get(vertx.createHttpServer().requestHandler(draining).listen(0, "127.0.0.1"));
  }

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private HttpClientConnection connect(HttpVersion version) throws Exception {
    client =
        vertx.createHttpClient(
            new HttpClientOptions().setProtocolVersion(version).setHttp2ClearTextUpgrade(false));
    return get(
        client.connect(new HttpConnectOptions().setHost("127.0.0.1").setPort(server.actualPort())));
  }

  private static HttpClientResponse ask(HttpClientConnection connection) throws Exception {
    return get(
        connection
            .request()
            .compose(HttpClientRequest::send)
            .compose(response -> response.body().map(response)));
  }

  private static CompletableFuture<Void> end(HttpClientConnection connection) {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    connection.closeHandler(ended::complete);
    return ended;
  }

  @Test
  void connectionsAreKeptUntilThen() throws Exception {
    HttpClientConnection connection = connect(HttpVersion.HTTP_1_1);
    assertThat(ask(connection).getHeader("Connection")).isNull();
    assertThat(ask(connection).statusCode()).isEqualTo(200);
  }

  @Test
  void aConnectionEndsWithItsNextAnswerWhichSaysSo() throws Exception {
    HttpClientConnection connection = connect(HttpVersion.HTTP_1_1);
    HttpClientResponse first = ask(connection);
    assertThat(first.statusCode()).isEqualTo(200);
    CompletableFuture<Void> ended = end(connection);

    draining.begin();

    HttpClientResponse last = ask(connection);
    assertThat(last.statusCode()).isEqualTo(200);
    assertThat(last.getHeader("Connection")).isEqualToIgnoringCase("close");
    ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void overHttp2AConnectionEndsWhenItsRequestIsAnswered() throws Exception {
    HttpClientConnection connection = connect(HttpVersion.HTTP_2);
    HttpClientResponse first = ask(connection);
    assertThat(first.version()).isEqualTo(HttpVersion.HTTP_2);
    CompletableFuture<Void> ended = end(connection);

    draining.begin();

    assertThat(ask(connection).statusCode()).isEqualTo(200);
    ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
