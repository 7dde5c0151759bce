package dev.weir.node;

import dev.weir.config.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The tokens that open the control plane, and whose they are. Immutable.
 *
 * <p>A token is looked for by its SHA-256, among all of them and not until it is found, each
 * compared to the end. So the time that it takes tells nothing of how much of a guess is right, nor
 * of how long a token is.
 */
final class AdminTokens {

  /** A hundred bits, if the characters are random ones of Base64. */
  static final int LEAST_CHARS = 16;

  /** Whom the audit knows by other means. */
  private static final Set<String> TAKEN_NAMES =
      Set.of(Caller.ANONYMOUS.name(), Caller.MERGE.name());

  private final Map<Caller, byte[]> digests;

  private AdminTokens(Map<Caller, byte[]> digests) {
    this.digests = digests;
  }

  /**
   * @param token that is a setting; empty if there is none
   */
  static AdminTokens of(Optional<Secret> token) {
    Map<Caller, byte[]> digests = new LinkedHashMap<>();
    token.ifPresent(secret -> digests.put(Caller.ADMIN, digest(secret.text())));
    return new AdminTokens(digests);
  }

  /**
   * The tokens of a file, {@code NAME: TOKEN} on each line but empty ones and those that begin with
   * {@code #}.
   *
   * @param token that is a setting, beside those of the file
   * @param regionToken that opens something else, and may not be among them
   * @throws FileRefusedException with what is wrong, no token among it
   */
  static AdminTokens parse(byte[] file, Optional<Secret> token, Optional<Secret> regionToken) {
    AdminTokens tokens = of(token);
    AdminTokens ofRegions = of(regionToken);
    List<String> errors = new ArrayList<>();
    List<String> lines = text(file).lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          tokens.add(line, ofRegions);
        } catch (IllegalArgumentException e) {
          errors.add("line " + (i + 1) + ": " + e.getMessage());
        }
      }
    }
    if (errors.isEmpty() && tokens.digests.size() == (token.isPresent() ? 1 : 0)) {
      errors.add("there must be a token in it");
    }
    if (!errors.isEmpty()) {
      throw new FileRefusedException(0, errors);
    }
    return tokens;
  }

  private static String text(byte[] file) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file)).toString();
    } catch (CharacterCodingException e) {
      throw new FileRefusedException(0, List.of("is not UTF-8"));
    }
  }

  private void add(String line, AdminTokens ofRegions) {
    int colon = line.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("must be NAME: TOKEN");
    }
    Caller caller = caller(line.substring(0, colon).strip());
    String token = token(caller, line.substring(colon + 1).strip());
    if (ofRegions.callerOf(token).isPresent()) {
      throw new IllegalArgumentException("'" + caller.name() + "' has the region_token");
    }
    byte[] digest = digest(token);
    for (Map.Entry<Caller, byte[]> other : digests.entrySet()) {
      if (MessageDigest.isEqual(other.getValue(), digest)) {
        throw new IllegalArgumentException(
            "'%s' has the token of '%s'".formatted(caller.name(), other.getKey().name()));
      }
    }
    digests.put(caller, digest);
  }

  /** What stands before the colon may be a token, if the line is none of ours: it is not shown. */
  private Caller caller(String name) {
    Caller caller;
    try {
      caller = new Caller(SettingParser.name(name));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the name " + e.getMessage(), e);
    }
    if (TAKEN_NAMES.contains(name) || digests.containsKey(caller)) {
      throw new IllegalArgumentException("the name '" + name + "' is taken");
    }
    return caller;
  }

  private static String token(Caller caller, String text) {
    if (text.length() < LEAST_CHARS) {
      throw new IllegalArgumentException(
          "the token of '" + caller.name() + "' must have " + LEAST_CHARS + " characters or more");
    }
    try {
      return SettingParser.token(text).text();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the token of '" + caller.name() + "' " + e.getMessage(), e);
    }
  }

  /** Whether there are none, so that none is asked for. */
  boolean isEmpty() {
    return digests.isEmpty();
  }

  /** Whose {@code token} is. */
  Optional<Caller> callerOf(String token) {
    byte[] digest = digest(token);
    Caller found = null;
    for (Map.Entry<Caller, byte[]> known : digests.entrySet()) {
      if (MessageDigest.isEqual(known.getValue(), digest)) {
        found = known.getKey();
      }
    }
    return Optional.ofNullable(found);
  }

  private static byte[] digest(String token) {
    return Sha256.digest(token.getBytes(StandardCharsets.UTF_8));
  }
}
