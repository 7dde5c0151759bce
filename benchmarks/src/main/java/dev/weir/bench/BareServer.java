package dev.weir.bench;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * An HTTP server of Vert.x that answers the same to everything: what any limiter built on it has to
 * do at least. It reads the bodies of requests and looks at nothing.
 */
public final class BareServer extends VerticleBase {

  /** Makes all instances share a port that the system chooses. */
  private static final int ANY_SHARED_PORT = -1;

  private final FixedAnswer answer;
  private final List<Map.Entry<CharSequence, CharSequence>> headers;
  private HttpServer server;

  private BareServer(FixedAnswer answer) {
    this.answer = answer;
    this.headers =
        answer.headers().stream()
            .map(
                header ->
                    Map.entry(
                        HttpHeaders.createOptimized(header.getKey()),
                        HttpHeaders.createOptimized(header.getValue())))
            .toList();
  }

  /**
   * Serves until the process is ended, on as many event loops as a node. Reads the answer from
   * standard input, and says on standard output where it listens.
   */
  public static void main(String[] args) throws IOException {
    FixedAnswer answer =
        FixedAnswer.fromJson(
            new JsonObject(new String(System.in.readAllBytes(), StandardCharsets.UTF_8)));
    int loops = Runtime.getRuntime().availableProcessors();
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops));
    BareServer first = new BareServer(answer);
    Await.done(vertx.deployVerticle(first));
    int port = first.server.actualPort();
    if (loops > 1) {
      Await.done(
          vertx.deployVerticle(
              () -> new BareServer(answer), new DeploymentOptions().setInstances(loops - 1)));
    }
    System.out.println("ready http://127.0.0.1:" + port);
  }

  @Override
  public Future<?> start() {
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(ANY_SHARED_PORT))
            .requestHandler(this::answer);
    return server.listen();
  }

  private void answer(HttpServerRequest request) {
    if (request.method().equals(HttpMethod.GET)) {
      end(request);
    } else {
      // A failure to read it means that the client has gone.
      var unused = request.body().onSuccess(body -> end(request));
    }
  }

  private void end(HttpServerRequest request) {
    headers.forEach(header -> request.response().headers().add(header.getKey(), header.getValue()));
    var unused = request.response().end(answer.body());
  }
}
