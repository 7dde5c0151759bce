package dev.weir.decision;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;

/** What a request's {@code Content-Type} says of its body. */
final class MediaType {

  private MediaType() {}

  /** Refuses a body that is anything but plain JSON by its own account; none at all is taken. */
  static void requireJson(HttpServerRequest request) {
    String type = request.getHeader(HttpHeaders.CONTENT_TYPE);
    if (type != null && !isJson(type)) {
      throw new UnsupportedMediaTypeException("content-type: must be application/json in UTF-8");
    }
    String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      throw new UnsupportedMediaTypeException("content-encoding: must be left out");
    }
  }

  /**
   * Whether {@code contentType} is JSON in UTF-8, the one encoding that JSON has between programs
   * (RFC 8259). US-ASCII is a part of it.
   */
  static boolean isJson(String contentType) {
    if (contentType.equals("application/json")) {
      return true;
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    String type = parts[0].strip();
    if (!type.equals("application/json") && !(type.endsWith("+json") && type.indexOf('/') > 0)) {
      return false;
    }
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().replace("\"", "");
      if (parameter.startsWith("charset=")
          && !parameter.equals("charset=utf-8")
          && !parameter.equals("charset=utf8")
          && !parameter.equals("charset=us-ascii")) {
        return false;
      }
    }
    return true;
  }
}
