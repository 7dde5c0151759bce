package dev.weir.lease;

import dev.weir.config.Shard;
import java.util.Locale;

/**
 * Names of counters in the store.
 *
 * <p>A key is whatever a caller sends, so it is escaped: characters that have a meaning in a name
 * ({@code %}, the braces of the hash tag, the colon) and control characters become {@code %} and
 * two hexadecimal digits, surrogates without their partner, which UTF-8 cannot hold, {@code %u} and
 * four. All else stays as it is. Different keys get different names, and no key can move the hash
 * tag that keeps all counters of a key on one node of a Redis Cluster. Those of a sub-counter of
 * the key have a tag of their own, the key's with a colon and its number behind it, and so a slot
 * of their own.
 */
final class StoreKeys {

  /** A hash tag that no key has, for the mark of an epoch where one server has all slots. */
  static final String EPOCH_TAG = "%epoch";

  /** A key that no caller's can be, since escaping puts a digit, A to F or {@code u} behind '%'. */
  static final String WARM_UP = "%warm-up";

  private static final String EMPTY = "%";
  private static final int LAST_CONTROL = 0x9f;

  private final String prefix;

  /**
   * @param prefix of every name
   * @throws IllegalArgumentException if it is empty, or has braces, spaces or control characters
   */
  StoreKeys(String prefix) {
    if (prefix.isEmpty() || prefix.chars().anyMatch(StoreKeys::misplacedInPrefix)) {
      throw new IllegalArgumentException(
          "prefix: must be one or more characters other than braces, spaces and control characters,"
              + " was '"
              + prefix
              + "'");
    }
    this.prefix = prefix + ":{";
  }

  /** The name of the level of {@code limit} of the counters that have the hash tag {@code tag}. */
  String level(String tag, String limit) {
    return prefix + tag + "}:" + limit + ":level";
  }

  /** The name of a reservation; no limit has an empty name. */
  String reservation(String tag, String id) {
    return prefix + tag + "}::reservation:" + id;
  }

  /** The name of what is known of a step that is made once. */
  String once(String tag, String id) {
    return prefix + tag + "}::once:" + id;
  }

  /** The name of the mark that tells the store's epochs apart. */
  String epoch(String tag) {
    return prefix + tag + "}:epoch";
  }

  /** The hash tag of the counters of {@code shard} of {@code key}. */
  static String tag(String key, Shard shard) {
    String escaped = escape(key);
    // The number last: slots of tags that differ in one place differ by as much for every key.
    return shard.of() == 1 ? escaped : escaped + ':' + shard.of() + '/' + shard.number();
  }

  static String escape(String key) {
    if (key.isEmpty()) {
      return EMPTY;
    }
    int length = key.length();
    int plain = 0;
    while (plain < length && isPlain(key, plain)) {
      plain++;
    }
    if (plain == length) {
      return key;
    }
    StringBuilder escaped = new StringBuilder(length + 16).append(key, 0, plain);
    for (int i = plain; i < length; i++) {
      char c = key.charAt(i);
      if (isPlain(key, i)) {
        escaped.append(c);
      } else if (Character.isSurrogate(c)) {
        escaped.append("%u").append(Integer.toHexString(c).toUpperCase(Locale.ROOT));
      } else {
        escaped.append('%').append(digit(c >> 4)).append(digit(c & 15));
      }
    }
    return escaped.toString();
  }

  private static boolean isPlain(String key, int i) {
    char c = key.charAt(i);
    if (c <= LAST_CONTROL) {
      return c != '%' && c != '{' && c != '}' && c != ':' && !Character.isISOControl(c);
    }
    if (Character.isHighSurrogate(c)) {
      return i + 1 < key.length() && Character.isLowSurrogate(key.charAt(i + 1));
    }
    return !Character.isLowSurrogate(c) || (i > 0 && Character.isHighSurrogate(key.charAt(i - 1)));
  }

  private static char digit(int value) {
    return "0123456789ABCDEF".charAt(value);
  }

  private static boolean misplacedInPrefix(int c) {
    return c == '{' || c == '}' || c == ' ' || Character.isISOControl(c);
  }
}
