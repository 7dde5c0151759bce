package dev.weir.node;

/** Texts that a user gave, made fit to stand in one line of an error or of the log. */
final class Quoted {

  private static final int MAX_CHARS = 80;

  private Quoted() {}

  /** {@code text} in quotes, without control characters, cut where it grows long. */
  static String of(String text) {
    return "'" + printable(text) + "'";
  }

  /** The same without the quotes. */
  static String printable(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints()
        .limit(MAX_CHARS)
        .forEach(
            c -> {
              if (Character.isISOControl(c)) {
                line.append(String.format("\\u%04x", c));
              } else {
                line.appendCodePoint(c);
              }
            });
    if (text.codePointCount(0, text.length()) > MAX_CHARS) {
      line.append("...");
    }
    return line.toString();
  }
}
