package dev.weir.client;

import dev.weir.client.Decision.Denied;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A decision as headers of an HTTP answer: the widespread {@code X-RateLimit-*}, and {@code
 * RateLimit-Policy} and {@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10, which are
 * structured fields (RFC 9651).
 */
public final class RateLimitHeaders {

  private static final CharSequence LIMIT = HttpHeaders.createOptimized("X-RateLimit-Limit");
  private static final CharSequence REMAINING =
      HttpHeaders.createOptimized("X-RateLimit-Remaining");
  private static final CharSequence RESET = HttpHeaders.createOptimized("X-RateLimit-Reset");
  private static final CharSequence STALE = HttpHeaders.createOptimized("X-RateLimit-Stale");
  private static final CharSequence DEGRADED = HttpHeaders.createOptimized("X-RateLimit-Degraded");
  private static final CharSequence POLICY = HttpHeaders.createOptimized("RateLimit-Policy");
  private static final CharSequence RATE_LIMIT = HttpHeaders.createOptimized("RateLimit");
  private static final CharSequence RETRY_AFTER = HttpHeaders.createOptimized("Retry-After");
  private static final CharSequence TRUE = HttpHeaders.createOptimized("true");
  private static final CharSequence FRESH = HttpHeaders.createOptimized("0.0");

  /** The largest integer of a structured field. */
  private static final long MAX_FIELD_INTEGER = 999_999_999_999_999L;

  private RateLimitHeaders() {}

  /**
   * Adds the headers of {@code decision}.
   *
   * @param epochMillis the time of the store, in milliseconds since 1970
   */
  public static void addTo(MultiMap headers, Decision decision, long epochMillis) {
    headers.add(LIMIT, Long.toString(decision.limit()));
    headers.add(REMAINING, Long.toString(decision.remaining()));
    headers.add(
        RESET, Long.toString(secondsUp(saturatedSum(epochMillis, decision.resetAfterMillis()))));
    headers.add(STALE, tenths(decision.staleMillis()));
    List<LimitStatus> limits = decision.limits();
    headers.add(POLICY, policies(limits));
    headers.add(RATE_LIMIT, states(limits));
    if (decision instanceof Denied denied && denied.retryAfterMillis() != Denied.NEVER) {
      headers.add(RETRY_AFTER, Long.toString(Math.max(1, secondsUp(denied.retryAfterMillis()))));
    }
    if (decision.degraded()) {
      headers.add(DEGRADED, TRUE);
    }
  }

  private static String policies(List<LimitStatus> limits) {
    StringBuilder out = new StringBuilder(40 * limits.size());
    for (LimitStatus status : limits) {
      LimitPolicy policy = status.policy();
      appendName(out, policy.name());
      appendInteger(out.append(";q="), policy.quota());
      appendInteger(out.append(";w="), policy.windowSeconds());
    }
    return out.toString();
  }

  private static String states(List<LimitStatus> limits) {
    StringBuilder out = new StringBuilder(40 * limits.size());
    for (LimitStatus status : limits) {
      appendName(out, status.policy().name());
      appendInteger(out.append(";r="), status.remaining());
      appendInteger(out.append(";t="), secondsUp(status.resetAfterMillis()));
    }
    return out.toString();
  }

  private static void appendInteger(StringBuilder out, long value) {
    out.append(Math.min(value, MAX_FIELD_INTEGER));
  }

  /**
   * A list member's value. A structured string holds printable ASCII only, so the rest is
   * percent-encoded: it must not be able to end the string or the header.
   */
  private static void appendName(StringBuilder out, String name) {
    if (!out.isEmpty()) {
      out.append(", ");
    }
    out.append('"');
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      if (b == '"' || b == '\\') {
        out.append('\\').append((char) b);
      } else if (b >= 0x20 && b < 0x7f) {
        out.append((char) b);
      } else {
        out.append('%');
        out.append(Character.toUpperCase(Character.forDigit(b >> 4 & 0xf, 16)));
        out.append(Character.toUpperCase(Character.forDigit(b & 0xf, 16)));
      }
    }
    out.append('"');
  }

  private static CharSequence tenths(long millis) {
    long tenths = saturatedSum(millis, 50) / 100;
    return tenths == 0 ? FRESH : tenths / 10 + "." + tenths % 10;
  }

  private static long secondsUp(long millis) {
    return millis / 1000 + (millis % 1000 > 0 ? 1 : 0);
  }

  private static long saturatedSum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
