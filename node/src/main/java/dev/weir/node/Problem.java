package dev.weir.node;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * An error's answer, a problem document of RFC 9457.
 *
 * @param status of HTTP
 * @param errors one line each, with the path and the reason; may be empty
 */
record Problem(int status, List<String> errors) {

  private static final CharSequence CONTENT_TYPE =
      HttpHeaders.createOptimized("application/problem+json");

  static Problem of(int status) {
    return new Problem(status, List.of());
  }

  static Problem of(int status, String error) {
    return new Problem(status, List.of(error));
  }

  void send(HttpServerResponse response) {
    JsonObject body =
        new JsonObject()
            .put("type", "about:blank")
            .put("title", HttpResponseStatus.valueOf(status).reasonPhrase())
            .put("status", status);
    if (!errors.isEmpty()) {
      body.put("detail", String.join("; ", errors)).put("errors", new JsonArray(errors));
    }
    response
        .setStatusCode(status)
        .putHeader(HttpHeaders.CONTENT_TYPE, CONTENT_TYPE)
        .end(body.toBuffer());
  }
}
