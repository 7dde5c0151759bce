package dev.weir.decision;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;

/**
 * The request that a gateway asks about.
 *
 * @param method of it
 * @param target its path or URI, with or without a query
 */
record AskedRequest(String method, String target) {

  /** Traefik, Caddy and APISIX. */
  private static final String FORWARDED_METHOD = "X-Forwarded-Method";

  private static final String FORWARDED_URI = "X-Forwarded-Uri";

  /** Nginx, as its users write it. */
  private static final String ORIGINAL_METHOD = "X-Original-Method";

  private static final String ORIGINAL_URI = "X-Original-URI";

  /**
   * Reads what a gateway tells in headers, or in the request line, as Envoy does: the path there is
   * that of the request, behind {@code prefix}.
   */
  static AskedRequest of(HttpServerRequest request, String prefix) {
    MultiMap headers = request.headers();
    String own = request.method().name();
    String forwarded = last(headers, FORWARDED_URI, "");
    if (!forwarded.isEmpty()) {
      return new AskedRequest(last(headers, FORWARDED_METHOD, own), forwarded);
    }
    String original = last(headers, ORIGINAL_URI, "");
    if (!original.isEmpty()) {
      return new AskedRequest(last(headers, ORIGINAL_METHOD, own), original);
    }
    return new AskedRequest(own, request.path().substring(prefix.length()));
  }

  /** The value that was added last, which is the nearest proxy's. */
  private static String last(MultiMap headers, String name, String absent) {
    List<String> values = headers.getAll(name);
    String last = values.isEmpty() ? "" : values.get(values.size() - 1).strip();
    return last.isEmpty() ? absent : last;
  }
}
