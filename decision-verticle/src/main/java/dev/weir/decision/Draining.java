package dev.weir.decision;

import io.vertx.core.Handler;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/**
 * Answers as before, and once the node is to stop lets each connection end with its next answer, so
 * that no caller sends a request into one that is being closed: over HTTP/1.1 the answer says
 * {@code Connection: close} (RFC 9112, section 9.6), over HTTP/2 the connection says GOAWAY (RFC
 * 9113, section 6.8). Owned by one event loop.
 */
final class Draining implements Handler<HttpServerRequest> {

  private final Handler<HttpServerRequest> handler;
  private boolean begun;

  Draining(Handler<HttpServerRequest> handler) {
    this.handler = handler;
  }

  /** From now on connections end. */
  void begin() {
    begun = true;
  }

  @Override
  public void handle(HttpServerRequest request) {
    if (begun) {
      HttpConnection connection = request.connection();
      if (request.version() == HttpVersion.HTTP_2) {
        connection.shutdown();
      } else {
        request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        request.response().endHandler(ended -> connection.close());
      }
    }
    handler.handle(request);
  }
}
