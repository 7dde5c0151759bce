package dev.weir.decision;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;

/** The token that callers of a node have to bear, if it asks for one. */
final class CallerToken {

  private static final String BEARER = "Bearer ";

  private final Optional<byte[]> expected;

  /**
   * @param token that is asked for; empty to ask for none
   */
  CallerToken(Optional<String> token) {
    expected = token.map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  boolean isAskedFor() {
    return expected.isPresent();
  }

  /** Whether an {@code Authorization} header (null for none) is of the kind that bears a token. */
  static boolean bears(String authorization) {
    return authorization != null
        && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length());
  }

  /** Whether an {@code Authorization} header (null for none) bears the token. */
  boolean isBorneBy(String authorization) {
    return bears(authorization) && is(authorization.substring(BEARER.length()));
  }

  /** Whether a header's value (null for none) is the token. Takes the same time either way. */
  boolean is(String value) {
    // The server reads a header's bytes as characters of Latin-1.
    return value != null
        && expected.isPresent()
        && MessageDigest.isEqual(
            expected.get(), value.strip().getBytes(StandardCharsets.ISO_8859_1));
  }
}
