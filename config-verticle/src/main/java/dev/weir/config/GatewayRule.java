package dev.weir.config;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line that names an endpoint: {@code GET /search/** -> search}.
 *
 * <p>The method is one of HTTP's or {@code *} for any; {@code GET} stands for {@code HEAD} too,
 * which costs whoever answers it the same. In the pattern {@code *} is any one segment, and {@code
 * **} at the end is the rest, which may be nothing.
 *
 * @param method in capitals, or {@link #ANY}
 * @param pattern as written
 * @param segments of the pattern, without its {@code **}, as {@link PathReadings} has them
 * @param open whether the pattern ends in {@code **}
 * @param endpoint that requests are to
 */
record GatewayRule(
    String method, String pattern, List<String> segments, boolean open, String endpoint) {

  private static final String ANY = "*";
  private static final String REST = "**";
  private static final Pattern RULE =
      Pattern.compile("(\\*|[A-Z][A-Z-]{0,31}) +(/\\S*) +-> +(\\S|\\S.*\\S)");

  private static final Pattern NOT_PLAIN = Pattern.compile("//|\\?|%2[Aa]");

  GatewayRule {
    segments = List.copyOf(segments);
  }

  /** The rule that {@code text} is; or an error, and nothing. */
  static Optional<GatewayRule> parse(String path, Object text, Errors errors) {
    Matcher parts = RULE.matcher(text instanceof String given ? given.strip() : "");
    if (!parts.matches()) {
      errors.add(
          path, "must be a rule such as 'GET /search/** -> search', was " + Errors.shown(text));
      return Optional.empty();
    }
    String pattern = parts.group(2);
    String endpoint = parts.group(3);
    Names.faultOfName(endpoint).ifPresent(fault -> errors.add(path, fault));
    boolean open = pattern.endsWith("/" + REST);
    String closed = open ? pattern.substring(0, pattern.length() - REST.length()) : pattern;
    List<List<String>> readings = PathReadings.of(utf8(closed));
    if (NOT_PLAIN.matcher(closed).find() || readings.size() != 1) {
      errors.add(
          path,
          "a pattern is plain: no empty segment, no '.' or '..', no ';', '\\', '#', '?', %2F or %2A");
      return Optional.empty();
    }
    List<String> segments = readings.get(0);
    if (segments.stream().anyMatch(each -> each.contains("*") && !each.equals(ANY))) {
      errors.add(path, "'*' is a segment of its own, and '**' is the last one");
      return Optional.empty();
    }
    return Optional.of(new GatewayRule(parts.group(1), pattern, segments, open, endpoint));
  }

  /** What {@link #parse} reads. */
  String format() {
    return method + " " + pattern + " -> " + endpoint;
  }

  /** Whether requests of this method are meant. Some servers take methods in any case. */
  boolean isFor(String asked) {
    return method.equals(ANY)
        || method.equalsIgnoreCase(asked)
        || (method.equals("GET") && asked.equalsIgnoreCase("HEAD"));
  }

  boolean matches(List<String> path) {
    if (open ? path.size() < segments.size() : path.size() != segments.size()) {
      return false;
    }
    for (int i = 0; i < segments.size(); i++) {
      String segment = segments.get(i);
      if (!segment.equals(ANY) && !segment.equals(path.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** A request's path comes in bytes, each read as a character; see {@link PathReadings}. */
  private static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
