package dev.weir.config;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ways in which servers read the path of one request.
 *
 * <p>For nearly every path there is one: percent-decoded, without query. But whether {@code %2F}
 * divides segments, whether {@code ;x=1} belongs to one, whether {@code \} or {@code #} mean
 * anything, whether {@code //} is one slash before {@code ..} is resolved, or {@code ..} is
 * resolved at all, is for the server behind the gateway to say, and a client that knows its ways
 * could choose a path that reads as something cheap here and as something dear there. So all
 * readings are looked at.
 *
 * <p>Text is bytes, each as a character of Latin-1, in the request and in the segments: no byte is
 * then invalid, and none is replaced by another.
 */
final class PathReadings {

  private static final int ENCODED_SLASH_DIVIDES = 1;
  private static final int BACKSLASH_DIVIDES = 1 << 1;
  private static final int PARAMETERS_ARE_DROPPED = 1 << 2;
  private static final int HASH_ENDS = 1 << 3;
  private static final int DOTS_ARE_RESOLVED = 1 << 4;
  private static final int SLASHES_ARE_MERGED_FIRST = 1 << 5;

  /** All of them are few enough to look at for a path of this many characters. */
  private static final int LONGEST = 2048;

  /** In lower case. */
  private static final Pattern DOT_SEGMENT = Pattern.compile("(^|[/\\\\]|%2f|%5c)(\\.|%2e)");

  private static final Pattern AUTHORITY = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\\]*");

  private final String path;
  private final int choices;

  private PathReadings(String path, int choices) {
    this.path = path;
    this.choices = choices;
  }

  /**
   * The readings of {@code target}, each the segments of a path; none if they are too many to look
   * at.
   *
   * @param target of a request: a path, or a URI, with or without a query
   */
  static List<List<String>> of(String target) {
    String path = path(target);
    int open = openChoices(path);
    if (open != 0 && path.length() > LONGEST) {
      return List.of();
    }
    Set<List<String>> readings = new LinkedHashSet<>();
    for (int choices = open; choices >= 0; choices--) {
      // Only what this path leaves open.
      if ((choices & ~open) == 0) {
        readings.add(new PathReadings(path, choices).segments());
      }
    }
    return List.copyOf(readings);
  }

  private static String path(String target) {
    int start = 0;
    if (!target.startsWith("/")) {
      Matcher authority = AUTHORITY.matcher(target);
      start = authority.lookingAt() ? authority.end() : 0;
    }
    int query = target.indexOf('?', start);
    return target.substring(start, query < 0 ? target.length() : query);
  }

  private static int openChoices(String path) {
    boolean plain = true;
    for (int i = 0; i < path.length() && plain; i++) {
      char c = path.charAt(i);
      plain = c != '%' && c != '\\' && c != ';' && c != '#' && c != '.';
    }
    if (plain) {
      return 0;
    }
    String lower = path.toLowerCase(Locale.ROOT);
    int open = 0;
    if (lower.contains("%2f")) {
      open |= ENCODED_SLASH_DIVIDES;
    }
    if (lower.contains("\\") || lower.contains("%5c")) {
      open |= BACKSLASH_DIVIDES;
    }
    if (lower.contains(";")) {
      open |= PARAMETERS_ARE_DROPPED;
    }
    if (lower.contains("#")) {
      open |= HASH_ENDS;
    }
    if (DOT_SEGMENT.matcher(lower).find()) {
      open |= DOTS_ARE_RESOLVED | SLASHES_ARE_MERGED_FIRST;
    }
    return open;
  }

  private boolean chosen(int choice) {
    return (choices & choice) != 0;
  }

  private List<String> segments() {
    List<String> raw = new ArrayList<>();
    StringBuilder segment = new StringBuilder();
    boolean dropping = false;
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      boolean encoded = c == '%' && isEscape(i);
      if (encoded) {
        c = (char) (digit(i + 1) << 4 | digit(i + 2));
        i += 2;
      }
      if (c == '#' && !encoded && chosen(HASH_ENDS)) {
        break;
      }
      // Parameters are cut off before anything is decoded, so nothing encoded ends them.
      if (divides(c, encoded) && !(dropping && encoded)) {
        raw.add(segment.toString());
        segment.setLength(0);
        dropping = false;
      } else if (c == ';' && !encoded && chosen(PARAMETERS_ARE_DROPPED)) {
        dropping = true;
      } else if (!dropping) {
        segment.append(c);
      }
    }
    raw.add(segment.toString());
    return resolve(raw);
  }

  private boolean divides(char c, boolean encoded) {
    return switch (c) {
      case '/' -> !encoded || chosen(ENCODED_SLASH_DIVIDES);
      case '\\' -> chosen(BACKSLASH_DIVIDES);
      default -> false;
    };
  }

  /** As RFC 3986, section 5.2.4, has it, but for what is chosen. Empty segments count at no end. */
  private List<String> resolve(List<String> raw) {
    List<String> resolved = new ArrayList<>(raw.size());
    // What is before the first slash is no segment.
    boolean rooted = raw.get(0).isEmpty();
    for (String segment : rooted ? raw.subList(1, raw.size()) : raw) {
      if (segment.isEmpty() && chosen(SLASHES_ARE_MERGED_FIRST)) {
        continue;
      }
      boolean dots = segment.equals(".") || segment.equals("..");
      if (!dots || !chosen(DOTS_ARE_RESOLVED)) {
        resolved.add(segment);
      } else if (segment.length() == 2 && !resolved.isEmpty()) {
        resolved.remove(resolved.size() - 1);
      }
    }
    resolved.removeIf(String::isEmpty);
    return List.copyOf(resolved);
  }

  private boolean isEscape(int percent) {
    return percent + 2 < path.length() && digit(percent + 1) >= 0 && digit(percent + 2) >= 0;
  }

  /** Of what is a digit in ASCII only. */
  private int digit(int index) {
    char c = path.charAt(index);
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }
}
