package dev.weir.node;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Decodes one segment of a URI's path.
 *
 * <p>Exactly once, and strictly: two segments of different meaning never become the same text, so
 * what is not percent-encoded UTF-8 is refused instead of mended with replacement characters. A
 * plus sign is a plus sign; only forms write spaces so.
 */
final class PathText {

  private PathText() {}

  /**
   * The text that {@code segment} stands for.
   *
   * @throws RefusedCallException (400) if it is not percent-encoded UTF-8
   */
  static String decode(String segment) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(segment.length());
    for (int i = 0; i < segment.length(); i++) {
      char c = segment.charAt(i);
      if (c == '%') {
        bytes.write(octet(segment, i));
        i += 2;
      } else if (c > ' ' && c < 0x7f) {
        bytes.write(c);
      } else {
        throw new RefusedCallException(
            400, "path: characters beyond ASCII must be percent-encoded");
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException e) {
      throw new RefusedCallException(400, "path: is not percent-encoded UTF-8");
    }
  }

  private static int octet(String segment, int percent) {
    if (percent + 2 < segment.length()
        && HexFormat.isHexDigit(segment.charAt(percent + 1))
        && HexFormat.isHexDigit(segment.charAt(percent + 2))) {
      return HexFormat.fromHexDigits(segment, percent + 1, percent + 3);
    }
    throw new RefusedCallException(400, "path: '%' must be followed by two hexadecimal digits");
  }
}
