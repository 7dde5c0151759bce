package dev.weir.config;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What keys, and the names of plans and endpoints, may look like. */
final class Names {

  private static final int MAX_KEY_BYTES = 1024;
  private static final int MAX_NAME_LENGTH = 128;

  private Names() {}

  /** Why {@code key} cannot be one, or empty if it can: 1 to 1024 bytes of UTF-8. */
  static Optional<String> faultOfKey(String key) {
    if (key.isEmpty()) {
      return Optional.of("must not be empty");
    }
    if (!isWellFormed(key)) {
      return Optional.of("is not well-formed Unicode");
    }
    if (key.getBytes(StandardCharsets.UTF_8).length > MAX_KEY_BYTES) {
      return Optional.of("must be at most " + MAX_KEY_BYTES + " bytes of UTF-8");
    }
    return Optional.empty();
  }

  /**
   * Why {@code name} cannot be that of a plan or an endpoint, or empty if it can: 1 to 128
   * characters that can be logged.
   */
  static Optional<String> faultOfName(String name) {
    if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
      return Optional.of(
          "a name must be 1 to " + MAX_NAME_LENGTH + " characters, was " + name.length());
    }
    if (!name.codePoints().allMatch(Names::isPrintable)) {
      return Optional.of("a name must not have control characters or half a surrogate pair");
    }
    return Optional.empty();
  }

  /** Whether {@code codePoint} can be written to a log without breaking its line. */
  static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }

  /**
   * An unpaired surrogate has no UTF-8 of its own: two keys that differ only in such would become
   * one.
   */
  private static boolean isWellFormed(String text) {
    return text.codePoints().noneMatch(c -> Character.getType(c) == Character.SURROGATE);
  }
}
