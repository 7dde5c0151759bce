package dev.weir.decision;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.ServerSSLOptions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The HTTP server of one endpoint, on one event loop. It speaks TLS if the endpoint has a
 * certificate, which can be exchanged while it runs.
 *
 * <p>Owned by one event loop, but for {@link #renew}, which any thread may call.
 */
public final class EndpointServer {

  private final HttpServer server;

  private EndpointServer(HttpServer server) {
    this.server = server;
  }

  /**
   * A server that does not listen yet.
   *
   * @param options of the server, without those of TLS
   * @param tls empty to speak HTTP in clear
   */
  public static EndpointServer create(
      Vertx vertx,
      HttpServerOptions options,
      Optional<ServerSSLOptions> tls,
      Handler<HttpServerRequest> requests) {
    tls.ifPresent(
        spoken ->
            options
                .setSsl(true)
                .setKeyCertOptions(spoken.getKeyCertOptions())
                .setTrustOptions(spoken.getTrustOptions())
                .setClientAuth(spoken.getClientAuth()));
    return new EndpointServer(
        vertx
            .createHttpServer(options)
            .requestHandler(
                request -> {
                  ClientPace.begins(request);
                  requests.handle(request);
                }));
  }

  /** What is done with requests that are no HTTP; to be told before it listens. */
  public EndpointServer invalidRequests(Handler<HttpServerRequest> handler) {
    server.invalidRequestHandler(handler);
    return this;
  }

  /** Fails if the port of the options is taken. */
  public Future<?> listen() {
    return server.listen();
  }

  /** The port that it listens on, once it does. */
  public int port() {
    return server.actualPort();
  }

  /**
   * Has connections to come see what {@code tls} says; those that there are stay as they are.
   * Servers that share a port share this as well.
   */
  public Future<Boolean> renew(ServerSSLOptions tls) {
    return server.updateSSLOptions(tls);
  }

  /** Accepts no more, and closes each connection once it has no request under way. */
  public Future<Void> shutdown(long timeout, TimeUnit unit) {
    return server.shutdown(timeout, unit);
  }

  /** Closes all connections at once. */
  public Future<Void> close() {
    return server.close();
  }
}
