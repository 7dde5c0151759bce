package dev.weir.client;

import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;

/**
 * A decision as JSON. Times are in seconds, exact to the millisecond and without exponents; {@code
 * retry_after} is null when no waiting helps.
 *
 * <p>Text is written without a tree in between: an answer is a few hundred bytes and made for every
 * request.
 */
public final class DecisionJson {

  /** Media type of the body of a denial, see {@link #appendProblem}. */
  public static final String PROBLEM_MEDIA_TYPE = "application/problem+json";

  /** Problem type of a denial, from draft-ietf-httpapi-ratelimit-headers-10. */
  public static final String QUOTA_EXCEEDED =
      "https://iana.org/assignments/http-problem-types#quota-exceeded";

  /** Problem type of a refusal since the store is away, from the same draft. */
  public static final String TEMPORARY_REDUCED_CAPACITY =
      "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

  private static final String QUOTA_EXCEEDED_HEAD =
      problemHead(
          QUOTA_EXCEEDED, "Request cannot be satisfied as assigned quota has been exceeded");
  private static final String REDUCED_CAPACITY_HEAD =
      problemHead(
          TEMPORARY_REDUCED_CAPACITY,
          "Request cannot be satisfied due to temporary server capacity constraints");

  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private DecisionJson() {}

  private static String problemHead(String type, String title) {
    return "{\"type\":\"" + type + "\",\"title\":\"" + title + "\",\"status\":";
  }

  /**
   * The status of HTTP that {@code denied} is answered with: 503 if it tells of the store alone,
   * which is no fault of the caller's.
   *
   * @param usual status of all other denials, 429 unless somebody wants another
   */
  public static int status(Denied denied, int usual) {
    return denied.reason() == Reason.STORE_AWAY ? 503 : usual;
  }

  /** The decision as an object, the same members as the text has. */
  public static JsonObject toJson(Decision decision) {
    JsonObject json =
        new JsonObject()
            .put("allowed", decision.allowed())
            .put("key", decision.key())
            .put("plan", decision.plan())
            .put("limit", decision.limit())
            .put("remaining", decision.remaining());
    if (decision.retryAfterMillis() == Denied.NEVER) {
      json.putNull("retry_after");
    } else {
      json.put("retry_after", seconds(decision.retryAfterMillis()));
    }
    json.put("reset_after", seconds(decision.resetAfterMillis()))
        .put("stale", seconds(decision.staleMillis()))
        .put("degraded", decision.degraded());
    if (decision instanceof Denied denied) {
      json.put("reason", denied.reason().wireName());
    }
    return json;
  }

  /** Appends the decision as a JSON object. */
  public static void append(StringBuilder out, Decision decision) {
    out.append('{');
    appendMembers(out, decision);
    out.append('}');
  }

  /**
   * Appends the denial as an RFC 9457 problem: the members of the decision and those that a problem
   * has, with the names of the limits that denied in {@code violated-policies}.
   *
   * @param status of the answer that the problem is the body of, see {@link #status}
   */
  public static void appendProblem(StringBuilder out, Denied denied, int status) {
    out.append(denied.reason() == Reason.STORE_AWAY ? REDUCED_CAPACITY_HEAD : QUOTA_EXCEEDED_HEAD)
        .append(status)
        .append(",\"violated-policies\":[");
    appendString(out, denied.status().policy().name());
    for (LimitStatus other : denied.limits()) {
      // What is used up denies whatever it is asked for.
      if (other.remaining() == 0 && !other.policy().equals(denied.status().policy())) {
        appendString(out.append(','), other.policy().name());
      }
    }
    out.append("],");
    appendMembers(out, denied);
    out.append('}');
  }

  private static void appendMembers(StringBuilder out, Decision decision) {
    out.append(decision.allowed() ? "\"allowed\":true,\"key\":" : "\"allowed\":false,\"key\":");
    appendString(out, decision.key());
    appendString(out.append(",\"plan\":"), decision.plan());
    out.append(",\"limit\":").append(decision.limit());
    out.append(",\"remaining\":").append(decision.remaining()).append(",\"retry_after\":");
    if (decision.retryAfterMillis() == Denied.NEVER) {
      out.append("null");
    } else {
      appendSeconds(out, decision.retryAfterMillis());
    }
    appendSeconds(out.append(",\"reset_after\":"), decision.resetAfterMillis());
    appendSeconds(out.append(",\"stale\":"), decision.staleMillis());
    out.append(decision.degraded() ? ",\"degraded\":true" : ",\"degraded\":false");
    if (decision instanceof Denied denied) {
      out.append(",\"reason\":\"").append(denied.reason().wireName()).append('"');
    }
  }

  private static Number seconds(long millis) {
    if (millis % 1000 == 0) {
      return millis / 1000;
    }
    return BigDecimal.valueOf(millis, 3).stripTrailingZeros();
  }

  private static void appendSeconds(StringBuilder out, long millis) {
    out.append(millis / 1000);
    int fraction = (int) (millis % 1000);
    if (fraction == 0) {
      return;
    }
    out.append('.').append((char) ('0' + fraction / 100));
    if (fraction % 100 != 0) {
      out.append((char) ('0' + fraction / 10 % 10));
      if (fraction % 10 != 0) {
        out.append((char) ('0' + fraction % 10));
      }
    }
  }

  private static void appendString(StringBuilder out, String text) {
    out.append('"');
    int clean = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 0x20 && c != '"' && c != '\\') {
        continue;
      }
      out.append(text, clean, i).append('\\');
      if (c >= 0x20) {
        out.append(c);
      } else {
        out.append("u00").append(HEX[c >> 4]).append(HEX[c & 0xf]);
      }
      clean = i + 1;
    }
    // A piece would be copied character by character.
    (clean == 0 ? out.append(text) : out.append(text, clean, text.length())).append('"');
  }
}
