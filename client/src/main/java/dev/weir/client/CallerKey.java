package dev.weir.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Who sends an HTTP request, as a key.
 *
 * <p>A header's value and a bearer token are keys as they are. An address is one behind {@value
 * #ADDRESS}, and what is longer than a key may be is one by its digest, behind {@value #DIGEST}. No
 * header can be taken for either: a value that begins so is no key.
 */
public final class CallerKey {

  /** Begins the key of an address: {@code ip:192.0.2.1}, {@code ip:2001:db8:1:2::/64}. */
  public static final String ADDRESS = "ip:";

  /** Begins the key of a long token: {@code sha256:} and 64 digits. */
  public static final String DIGEST = "sha256:";

  /** Of a caller whose address is not known. */
  private static final String NOWHERE = ADDRESS + "unknown";

  private static final String BEARER = "Bearer ";

  private CallerKey() {}

  /**
   * The key that a header holds; empty if it is missing, empty, malformed, or given more than once:
   * who reads the other one would serve another caller than the one who is limited.
   *
   * @param values of the header, its bytes as characters of Latin-1, as Vert.x has them
   */
  public static Optional<String> ofHeader(List<String> values) {
    return values.size() == 1 ? ofText(values.get(0).strip()) : Optional.empty();
  }

  /**
   * The bearer token as a key; empty if there is none.
   *
   * @param values of the {@code Authorization} header, as {@link #ofHeader} takes them
   */
  public static Optional<String> ofBearer(List<String> values) {
    return values.size() == 1 && values.get(0).regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? ofText(values.get(0).substring(BEARER.length()).strip())
        : Optional.empty();
  }

  /** The key of an address; all addresses of an IPv6 /64 have the same. */
  public static String ofAddress(Optional<IpAddress> address) {
    return address.map(known -> ADDRESS + known.subscriber()).orElse(NOWHERE);
  }

  private static Optional<String> ofText(String latin1) {
    byte[] bytes = latin1.getBytes(StandardCharsets.ISO_8859_1);
    if (bytes.length > CheckRequest.MAX_KEY_BYTES) {
      return Optional.of(DIGEST + digest(bytes));
    }
    try {
      // A new decoder reports what is malformed.
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      boolean ours = text.startsWith(ADDRESS) || text.startsWith(DIGEST);
      return text.isEmpty() || ours ? Optional.empty() : Optional.of(text);
    } catch (CharacterCodingException malformed) {
      return Optional.empty();
    }
  }

  private static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }
}
