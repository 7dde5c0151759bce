package dev.weir.decision;

import io.vertx.core.json.JsonObject;

/**
 * An error as RFC 9457 has it. Most of ours need no type of their own: the status says what there
 * is to say to a program, the detail is for who wrote the program.
 *
 * @param type of the problem, a URI
 * @param status of HTTP
 * @param title what the status is called
 * @param detail one line, the member at fault first
 */
record Problem(String type, int status, String title, String detail) {

  /** From draft-ietf-httpapi-ratelimit-headers-10. */
  private static final String TEMPORARY_REDUCED_CAPACITY =
      "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

  private Problem(int status, String title, String detail) {
    this("about:blank", status, title, detail);
  }

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

  static Problem conflict(String detail) {
    return new Problem(409, "Conflict", detail);
  }

  static Problem temporaryReducedCapacity(String detail) {
    return new Problem(
        TEMPORARY_REDUCED_CAPACITY,
        503,
        "Request cannot be satisfied due to temporary server capacity constraints",
        detail);
  }

  static Problem internalError() {
    return new Problem(500, "Internal Server Error", "the fault is ours; it has been logged");
  }

  /** The problem of a check that was refused with {@code code}: 400, 403, 404 or 422. */
  static Problem ofRefusal(int code, String detail) {
    return switch (code) {
      case 403 -> new Problem(403, "Forbidden", detail);
      case 404 -> notFound(detail);
      case 422 -> new Problem(422, "Unprocessable Content", detail);
      default -> badRequest(detail);
    };
  }

  String toJson() {
    return new JsonObject()
        .put("type", type)
        .put("title", title)
        .put("status", status)
        .put("detail", detail)
        .encode();
  }
}
