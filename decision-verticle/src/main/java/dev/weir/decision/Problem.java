package dev.weir.decision;

import io.vertx.core.json.JsonObject;

/**
 * An error as RFC 9457 has it. None of ours needs a type of its own: the status says what there is
 * to say to a program, the detail is for who wrote the program.
 *
 * @param status of HTTP
 * @param title what the status is called
 * @param detail one line, the member at fault first
 */
record Problem(int status, String title, String detail) {

  static Problem badRequest(String detail) {
    return new Problem(400, "Bad Request", detail);
  }

  static Problem unauthorized(String detail) {
    return new Problem(401, "Unauthorized", detail);
  }

  static Problem notFound(String detail) {
    return new Problem(404, "Not Found", detail);
  }

  static Problem methodNotAllowed(String detail) {
    return new Problem(405, "Method Not Allowed", detail);
  }

  static Problem contentTooLarge(String detail) {
    return new Problem(413, "Content Too Large", detail);
  }

  static Problem unsupportedMediaType(String detail) {
    return new Problem(415, "Unsupported Media Type", detail);
  }

  static Problem internalError() {
    return new Problem(500, "Internal Server Error", "the fault is ours; it has been logged");
  }

  /** The problem of a check that was refused with {@code code}: 400, 403 or 404. */
  static Problem ofRefusal(int code, String detail) {
    return switch (code) {
      case 403 -> new Problem(403, "Forbidden", detail);
      case 404 -> notFound(detail);
      default -> badRequest(detail);
    };
  }

  String toJson() {
    return new JsonObject()
        .put("type", "about:blank")
        .put("title", title)
        .put("status", status)
        .put("detail", detail)
        .encode();
  }
}
