package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.GoAway;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientConnection;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnectOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that would keep a node from serving others, over sockets of their own. */
@Timeout(120)
class SlowClientsTest {

  private static final int MOST = 4;
  private static final String CHECK = "GET /v1/check?key=a HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final int BYTE_MILLIS = 50;

  @TempDir private static Path directory;
  private static Vertx vertx;
  private static Weir weir;
  private static PrometheusMeterRegistry registry;

  @BeforeAll
  static void deploy() {
    Settings settings =
        Settings.of(
            Map.of(
                "http.host", "127.0.0.1",
                "http.port", "0",
                "http.max_connections", Integer.toString(MOST),
                "http.client_timeout", "1s",
                "admin.port", "0",
                "data_dir", directory.toString()));
    registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    vertx = Vertx.builder().withTransport(new GuardedTransport(settings, registry)).build();
    weir = get(Weir.deploy(vertx, settings, registry));
  }

  @AfterAll
  static void close() {
    get(vertx.close());
  }

  @Test
  void whoNeverFinishesTheHeadersIsCut() {
    try (Client slow = new Client()) {
      slow.send("GET /v1/check?key=a HTTP/1.1\r\nX-Slow: ");
      slow.dribbleUntilCut();
    }
  }

  @Test
  void whoNeverSaysWhichHttpItSpeaksIsCut() {
    try (Client slow = new Client()) {
      slow.send("PRI * HT");
      slow.awaitCut();
    }
  }

  @Test
  void whoNeverFinishesTheBodyIsCut() {
    try (Client slow = new Client()) {
      slow.send(
          "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Content-Length: 1000000\r\n\r\n{\"key\":\"");
      slow.dribbleUntilCut();
    }
  }

  @Test
  void whoReadsNoAnswersIsCutAndIsSentOnlyWhatTheConnectionHolds() {
    try (Client slow = new Client()) {
      slow.sendUntilCut(CHECK.repeat(100));
    }
  }

  @Test
  void whoGoesOnAskingStays() {
    try (Client steady = new Client();
        Client slow = new Client()) {
      slow.send("G");
      // Until somebody else's time is over, and then once more.
      while (!slow.isCut(BYTE_MILLIS)) {
        steady.ask();
      }
      steady.ask();
    }
  }

  @Test
  void whoTakesARequestBackAndSendsNoOtherIsCutInOrder() throws Exception {
    double cut = metric("weir_connections_cut_total");
    Promise<GoAway> goodbye = Promise.promise();
    HttpClientAgent client = http2();
    HttpClientConnection connection = connect(client);
    connection.goAwayHandler(goodbye::tryComplete);
    HttpClientRequest request = request(connection, HttpMethod.POST);
    soon(request.sendHead());
    soon(request.reset());

    assertThat(soon(goodbye.future()).getErrorCode()).isZero();
    assertThat(metric("weir_connections_cut_total")).isGreaterThan(cut);
    soon(client.close());
  }

  @Test
  void whoNeverFinishesOneBodyLosesItWhileItsOtherRequestsAreAnswered() throws Exception {
    HttpClientAgent client = http2();
    HttpClientConnection connection = connect(client);
    HttpClientRequest slow = request(connection, HttpMethod.POST).setChunked(true);
    CompletableFuture<Throwable> lost = new CompletableFuture<>();
    slow.response().onFailure(lost::complete);
    soon(slow.write("{"));

    while (!isDone(lost, BYTE_MILLIS)) {
      assertAnswered(connection);
    }
    assertThat(lost.join()).isInstanceOf(StreamResetException.class);
    assertAnswered(connection);
    soon(client.close());
  }

  private static HttpClientAgent http2() {
    return vertx.createHttpClient(
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false));
  }

  private static HttpClientConnection connect(HttpClientAgent client) throws Exception {
    return soon(
        client.connect(new HttpConnectOptions().setHost("127.0.0.1").setPort(weir.httpPort())));
  }

  private static HttpClientRequest request(HttpClientConnection connection, HttpMethod method)
      throws Exception {
    return soon(connection.request(method, "/v1/check?key=a"));
  }

  private static void assertAnswered(HttpClientConnection connection) throws Exception {
    HttpClientResponse answer = soon(request(connection, HttpMethod.GET).send());
    assertThat(answer.statusCode()).isIn(200, 429);
  }

  private static <T> T soon(Future<T> future) throws Exception {
    return future.await(20, TimeUnit.SECONDS);
  }

  private static boolean isDone(CompletableFuture<?> future, int millis) throws Exception {
    try {
      future.get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  @Test
  void oneConnectionTooManyIsClosedAndTheOthersServed() {
    // Those of the other tests have gone.
    awaitNoConnection();
    double refused = metric("weir_connections_refused_total");
    Client[] clients = new Client[MOST];
    for (int i = 0; i < MOST; i++) {
      clients[i] = new Client();
      clients[i].ask();
    }
    try (Client tooMany = new Client()) {
      tooMany.awaitCut();
    }
    assertThat(metric("weir_connections_refused_total")).isGreaterThan(refused);
    for (Client client : clients) {
      client.close();
    }
    awaitNoConnection();
    try (Client next = new Client()) {
      next.ask();
    }
  }

  private static void awaitNoConnection() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(metric("weir_connections")).isZero());
  }

  private static double metric(String name) {
    return registry
        .scrape()
        .lines()
        .filter(line -> line.startsWith(name + "{endpoint=\"http\"}"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }

  /** One connection. */
  private static final class Client implements AutoCloseable {

    private final Socket socket = new Socket();

    Client() {
      try {
        // Small, so that answers that nobody reads soon have nowhere to go.
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), weir.httpPort()));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void send(String text) {
      try {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Asks, and reads the whole answer. */
    void ask() {
      send(CHECK);
      StringBuilder answer = new StringBuilder();
      try {
        socket.setSoTimeout(20_000);
        while (answer.indexOf("}") < 0) {
          int next = socket.getInputStream().read();
          assertThat(next).as("end after %s", answer).isNotNegative();
          answer.append((char) next);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      assertThat(answer).startsWith("HTTP/1.1 ");
    }

    /** Waits that long at most for the connection to end. */
    boolean isCut(int millis) {
      try {
        socket.setSoTimeout(millis);
        return socket.getInputStream().read() < 0;
      } catch (SocketTimeoutException e) {
        return false;
      } catch (IOException reset) {
        return true;
      }
    }

    void awaitCut() {
      assertThat(isCut(20_000)).isTrue();
    }

    /** A byte now and then, as long as it is taken. */
    void dribbleUntilCut() {
      while (!isCut(BYTE_MILLIS)) {
        try {
          socket.getOutputStream().write('x');
        } catch (IOException reset) {
          return;
        }
      }
    }

    /** Reads nothing meanwhile. */
    void sendUntilCut(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      try {
        while (true) {
          socket.getOutputStream().write(bytes);
        }
      } catch (IOException reset) {
        assertThat(reset).isNotNull();
      }
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
