package dev.weir.bench;

import java.nio.charset.StandardCharsets;

/** Keys of 20 characters, such as callers have. */
final class Keys {

  private final String[] texts;
  private final byte[][] bytes;

  /**
   * @param count how many, 1 or more
   */
  Keys(int count) {
    texts = new String[count];
    bytes = new byte[count][];
    for (int i = 0; i < count; i++) {
      texts[i] = "customer-%011d".formatted(i);
      bytes[i] = texts[i].getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  int count() {
    return texts.length;
  }

  /** The text that a caller keeps, whose hash is computed once. */
  String kept(int key) {
    return texts[key];
  }

  /** The same text as it comes with a request: a new object, whose hash is yet to be computed. */
  String received(int key) {
    return new String(bytes[key], StandardCharsets.ISO_8859_1);
  }
}
