package dev.weir.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.time.Duration;
import java.util.List;

/** An HTTP client of Vert.x on one event loop. */
final class VertxHttpLoad implements HttpLoad {

  private static final int OK = 200;

  /** Long enough to make all connections, and to use each. */
  private static final Duration CONNECTING = Duration.ofMillis(200);

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));

  @Override
  public String name() {
    return "vertx";
  }

  @Override
  public Load run(int port, Ask ask, Duration length) {
    try (Asking asking = new Asking(vertx, port, ask)) {
      return ClosedLoop.run(vertx, ask.connections() * ask.pipelined(), length, asking::check);
    }
  }

  /** Asks at a steady rate, which has to be well below what the server and the client can do. */
  Load run(int port, Ask ask, Duration length, double perSecond) {
    return run(port, ask, length, perSecond, () -> {});
  }

  /**
   * The same.
   *
   * @param begins is run when all connections are made
   */
  Load run(int port, Ask ask, Duration length, double perSecond, Runnable begins) {
    try (Asking asking = new Asking(vertx, port, ask)) {
      // Else all that is due while connections are made would be late.
      ClosedLoop.run(vertx, ask.connections(), CONNECTING, asking::check);
      begins.run();
      return OpenLoop.run(vertx, perSecond, length, asking::check);
    }
  }

  /** What the server answers when it is asked once. */
  FixedAnswer answer(int port, Ask ask) {
    try (Asking asking = new Asking(vertx, port, ask)) {
      return Await.done(asking.answer());
    }
  }

  @Override
  public void close() {
    Await.done(vertx.close());
  }

  /** The connections to one server. */
  private static final class Asking implements AutoCloseable {

    private final HttpClient client;
    private final RequestOptions options;
    private final List<Buffer> bodies;
    private int next;

    Asking(Vertx vertx, int port, Ask ask) {
      client =
          vertx.createHttpClient(
              new HttpClientOptions()
                  .setPipelining(ask.pipelined() > 1)
                  .setPipeliningLimit(ask.pipelined()),
              new PoolOptions().setHttp1MaxSize(ask.connections()));
      options =
          new RequestOptions()
              .setMethod(ask.method())
              .setHost("127.0.0.1")
              .setPort(port)
              .setURI(ask.path());
      if (!ask.bodies().isEmpty()) {
        options.putHeader(HttpHeaders.CONTENT_TYPE, "application/json");
      }
      bodies = ask.bodies().stream().map(Buffer::buffer).toList();
    }

    Future<?> check() {
      return request()
          .compose(
              response ->
                  response.statusCode() == OK
                      ? response.end()
                      : Future.failedFuture("status " + response.statusCode()));
    }

    Future<FixedAnswer> answer() {
      return request()
          .compose(
              response ->
                  response.body().map(body -> new FixedAnswer(response.headers().entries(), body)));
    }

    private Future<HttpClientResponse> request() {
      return client
          .request(options)
          .compose(
              request -> {
                if (bodies.isEmpty()) {
                  return request.send();
                }
                next = (next + 1) % bodies.size();
                return request.send(bodies.get(next));
              });
    }

    @Override
    public void close() {
      Await.done(client.close());
    }
  }
}
