package dev.weir.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What is wrong with a configuration, one line each, collected so that a user sees all of it. */
final class Errors {

  /** A generated file can be wrong a hundred thousand times over in the same way. */
  private static final int MOST_LINES = 100;

  private static final int MOST_SHOWN = 64;

  private final List<String> lines = new ArrayList<>();
  private int more;

  /**
   * @param path of the member at fault; empty for the whole
   */
  void add(String path, String reason) {
    if (lines.size() < MOST_LINES) {
      lines.add(path.isEmpty() ? reason : path + ": " + reason);
    } else {
      more++;
    }
  }

  /**
   * @throws ConfigRefusedException with code 400 if there was an error
   */
  void throwIfAny() {
    throwIfAny(400);
  }

  /**
   * @throws ConfigRefusedException with {@code code} if there was an error
   */
  void throwIfAny(int code) {
    if (lines.isEmpty()) {
      return;
    }
    List<String> all = new ArrayList<>(lines);
    if (more > 0) {
      all.add("and " + more + " more");
    }
    throw new ConfigRefusedException(code, all);
  }

  /** The path of {@code member} of what is at {@code path}, fit for one line of a log. */
  static String join(String path, String member) {
    String printable = printable(member);
    return path.isEmpty() ? printable : path + "." + printable;
  }

  /** How a wrong value is shown: short, and never on more than one line. */
  static String shown(Object value) {
    if (value instanceof String text) {
      return "'" + printable(text) + "'";
    }
    if (value instanceof Map) {
      return "a map";
    }
    if (value instanceof List) {
      return "a list";
    }
    return printable(String.valueOf(value));
  }

  private static String printable(String text) {
    String start = text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) + "..." : text;
    StringBuilder shown = new StringBuilder(start.length());
    start.codePoints().forEach(c -> shown.appendCodePoint(Names.isPrintable(c) ? c : '?'));
    return shown.toString();
  }
}
