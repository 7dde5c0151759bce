package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.config.Shard;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a reservation, which leads every node to it: whether the store holds it, 128 random
 * bits that nobody guesses, the key, and the plan that what is spent of it is counted under.
 *
 * @param held whether the store holds it; otherwise there is nothing to settle
 * @param unique what the store knows it by
 * @param key whose it is
 * @param plan the name of the plan that it was made under
 * @param shard where the store holds it
 */
record ReservationId(boolean held, String unique, String key, String plan, Shard shard) {
  private static final int RANDOM_BYTES = 16;
  private static final char HELD = 'h';
  private static final char NOT_HELD = 'n';
  private static final char SEPARATOR = '.';
  private static final int MAX_PLAN_BYTES = 1024;
  private static final int KEY_AT = 24;
  private static final Pattern FORM =
      Pattern.compile("[hn][A-Za-z0-9_-]{22}(\\.[A-Za-z0-9_-]+){2}(\\.(\\d{1,2})-(\\d{1,2}))?");
  private static final int SHARD = 2;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  /** What the store may know a new one by. */
  static String newUnique() {
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    return ENCODER.encodeToString(random);
  }

  /** Reads what {@link #text} wrote; empty for anything else. */
  static Optional<ReservationId> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    try {
      int planAt = text.indexOf(SEPARATOR, KEY_AT) + 1;
      String key = decode(text.substring(KEY_AT, planAt - 1), CheckRequest.MAX_KEY_BYTES);
      boolean divided = form.group(SHARD) != null;
      int planEnd = divided ? form.start(SHARD) : text.length();
      String plan = decode(text.substring(planAt, planEnd), MAX_PLAN_BYTES);
      Shard shard =
          divided
              ? new Shard(
                  Integer.parseInt(form.group(SHARD + 1)), Integer.parseInt(form.group(SHARD + 2)))
              : Shard.WHOLE;
      ReservationId id =
          new ReservationId(
              text.charAt(0) == HELD, text.substring(1, KEY_AT - 1), key, plan, shard);
      return id.text().equals(text) ? Optional.of(id) : Optional.empty();
    } catch (CharacterCodingException | IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  private static String decode(String text, int maxBytes) throws CharacterCodingException {
    byte[] bytes = Base64.getUrlDecoder().decode(text);
    if (bytes.length > maxBytes) {
      throw new IllegalArgumentException("more than " + maxBytes + " bytes");
    }
    return StrictUtf8.decode(bytes, bytes.length).toString();
  }

  /** As callers have it: letters, digits, '-', '_' and '.'. */
  String text() {
    String whole =
        (held ? HELD : NOT_HELD) + unique + SEPARATOR + encode(key) + SEPARATOR + encode(plan);
    return shard.of() == 1 ? whole : whole + SEPARATOR + shard.number() + '-' + shard.of();
  }

  private static String encode(String text) {
    return ENCODER.encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
