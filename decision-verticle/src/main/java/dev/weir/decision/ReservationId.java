package dev.weir.decision;

import dev.weir.client.CheckRequest;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The name of a reservation, which leads every node to it: whether the store holds it, 128 random
 * bits that nobody guesses, and the key.
 *
 * @param held whether the store holds it; otherwise there is nothing to settle
 * @param unique what the store knows it by
 * @param key whose it is
 */
record ReservationId(boolean held, String unique, String key) {
  private static final int RANDOM_BYTES = 16;
  private static final char HELD = 'h';
  private static final char NOT_HELD = 'n';
  private static final char BEFORE_KEY = '.';
  private static final int KEY_AT = 24;
  private static final Pattern FORM = Pattern.compile("[hn][A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]+");
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  /** A new one, which the store is to hold. */
  static ReservationId next(String key) {
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    return new ReservationId(true, ENCODER.encodeToString(random), key);
  }

  /** The same, which the store does not hold. */
  ReservationId notHeld() {
    return new ReservationId(false, unique, key);
  }

  /** Reads what {@link #text} wrote; empty for anything else. */
  static Optional<ReservationId> parse(String text) {
    if (!FORM.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(text.substring(KEY_AT));
      String key = StrictUtf8.decode(bytes, bytes.length).toString();
      ReservationId id = new ReservationId(text.charAt(0) == HELD, text.substring(1, 23), key);
      boolean known = bytes.length <= CheckRequest.MAX_KEY_BYTES && id.text().equals(text);
      return known ? Optional.of(id) : Optional.empty();
    } catch (CharacterCodingException | IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  /** As callers have it: letters, digits, '-', '_' and '.'. */
  String text() {
    return (held ? HELD : NOT_HELD)
        + unique
        + BEFORE_KEY
        + ENCODER.encodeToString(key.getBytes(StandardCharsets.UTF_8));
  }
}
