package dev.weir.decision;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Text from UTF-8 and nothing else. The lenient decoders put the same character in the place of
 * every wrong byte, and so would make one key of many.
 */
final class StrictUtf8 {

  private StrictUtf8() {}

  /** The text of the first {@code length} of {@code bytes}. */
  static CharBuffer decode(byte[] bytes, int length) throws CharacterCodingException {
    return StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT)
        .decode(ByteBuffer.wrap(bytes, 0, length));
  }
}
