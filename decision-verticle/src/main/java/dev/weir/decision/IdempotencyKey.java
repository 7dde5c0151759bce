package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;

/**
 * The {@code Idempotency-Key} header (draft-ietf-httpapi-idempotency-key-header): a string of
 * structured fields, in quotes, or the same without them.
 */
final class IdempotencyKey {
  private static final CharSequence NAME = HttpHeaders.createOptimized("Idempotency-Key");

  private IdempotencyKey() {}

  static boolean isGiven(HttpServerRequest request) {
    return request.headers().contains(NAME);
  }

  /**
   * The check with the id that the header gives, if it gives one.
   *
   * @throws CheckRefusedException with code 400 if the header is wrong, or the check has another id
   */
  static CheckRequest of(HttpServerRequest request, CheckRequest check) {
    if (!isGiven(request)) {
      return check;
    }
    List<String> values = request.headers().getAll(NAME);
    String id = values.size() == 1 ? unquoted(values.get(0).strip()) : "";
    if (id.isEmpty()) {
      throw CheckRefusedException.badRequest(
          "idempotency-key: must be given once, 1 to 255 printable ASCII characters");
    }
    if (!check.id().isEmpty() && !check.id().equals(id)) {
      throw CheckRefusedException.badRequest("id: is not the same as the Idempotency-Key");
    }
    return check.withId(id);
  }

  /** Empty if the quotes are not those of a string (RFC 9651). */
  private static String unquoted(String value) {
    if (!value.startsWith("\"")) {
      return value;
    }
    StringBuilder text = new StringBuilder();
    int last = value.length() - 1;
    for (int i = 1; i < last; i++) {
      char c = value.charAt(i);
      if (c == '\\' && i + 1 < last) {
        i++;
        c = value.charAt(i);
      } else if (c == '"' || c == '\\') {
        return "";
      }
      text.append(c);
    }
    return last > 0 && value.charAt(last) == '"' ? text.toString() : "";
  }
}
