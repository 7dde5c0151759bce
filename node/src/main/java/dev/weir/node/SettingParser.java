package dev.weir.node;

import dev.weir.config.Durations;
import dev.weir.decision.AddressBlock;
import dev.weir.lease.StoreUrl;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads a setting's text. */
@FunctionalInterface
interface SettingParser<T> {

  int MAX_PORT = 65535;

  Pattern HOST = Pattern.compile("[A-Za-z0-9._:%-]{1,253}");
  Pattern HOST_AND_PORT = Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9._-]+):([0-9]{1,5})");
  Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  Pattern BYTES = Pattern.compile("([0-9]{1,5})([MGT])iB");

  /** Twice what is made ready ahead of need. */
  long LEAST_BYTES = 32L << 20;

  Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]+");

  /**
   * The value of {@code text}, which is not empty.
   *
   * @throws IllegalArgumentException with what the text must be, to follow the setting's path; the
   *     text itself is not in it
   */
  T parse(String text);

  /** A value that may be left out. */
  static <T> SettingParser<Optional<T>> optional(SettingParser<T> parser) {
    return text -> text.isEmpty() ? Optional.empty() : Optional.of(parser.parse(text));
  }

  /** Values between commas; none in an empty text. */
  static <T> SettingParser<List<T>> list(SettingParser<T> element) {
    return text -> {
      List<T> elements = new ArrayList<>();
      if (!text.isEmpty()) {
        for (String part : text.split(",", -1)) {
          elements.add(element.parse(part.strip()));
        }
      }
      return List.copyOf(elements);
    };
  }

  static SettingParser<Integer> wholeNumber(int least, int most) {
    return text -> {
      try {
        int number = Integer.parseInt(text);
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Refused below, as a number out of range is.
      }
      throw new IllegalArgumentException("must be a whole number from " + least + " to " + most);
    };
  }

  static Double share(String text) {
    try {
      double share = Double.parseDouble(text);
      // Written so that NaN is refused as well.
      if (share > 0 && share <= 1) {
        return share;
      }
    } catch (NumberFormatException e) {
      // Refused below, as a number out of range is.
    }
    throw new IllegalArgumentException("must be a number above 0 and at most 1");
  }

  static Boolean onOrOff(String text) {
    return switch (text) {
      case "on", "true" -> true;
      case "off", "false" -> false;
      default -> throw new IllegalArgumentException("must be on or off");
    };
  }

  /** A duration within bounds that are written as a user would write them. */
  static SettingParser<Duration> duration(String least, String most) {
    Duration from = Durations.parse(least);
    Duration to = Durations.parse(most);
    return text -> {
      try {
        Duration duration = Durations.parse(text);
        if (duration.compareTo(from) >= 0 && duration.compareTo(to) <= 0) {
          return duration;
        }
      } catch (IllegalArgumentException e) {
        // Refused below, as a duration out of range is.
      }
      throw new IllegalArgumentException(
          "must be a duration from " + least + " to " + most + " such as 5ms or 1m");
    };
  }

  /** Room on a disk, bytes: a whole number of MiB, GiB or TiB. */
  static Long bytes(String text) {
    var matcher = BYTES.matcher(text);
    if (matcher.matches()) {
      long number = Long.parseLong(matcher.group(1));
      long bytes = number << (20 + 10 * "MGT".indexOf(matcher.group(2)));
      if (bytes >= LEAST_BYTES) {
        return bytes;
      }
    }
    throw new IllegalArgumentException("must be a size such as 512MiB or 4GiB, 32MiB or more");
  }

  static String host(String text) {
    return matching(HOST, text, "must be a host name or an address");
  }

  static String hostAndPort(String text) {
    var matcher = HOST_AND_PORT.matcher(text);
    if (matcher.matches()) {
      int port = Integer.parseInt(matcher.group(2));
      if (port >= 1 && port <= MAX_PORT) {
        return text;
      }
    }
    throw new IllegalArgumentException("must be host:port, several joined by commas");
  }

  /** A name that is safe in the store's names, in metrics and in Hazelcast's configuration. */
  static String name(String text) {
    return matching(NAME, text, "must be 1 to 64 letters, digits, '_', '.' or '-'");
  }

  /** A bearer token, as a header field can carry it. */
  static Secret token(String text) {
    return new Secret(matching(TOKEN, text, "must be printable ASCII characters without a space"));
  }

  static StoreUrl storeUrl(String text) {
    return StoreUrl.parse(text);
  }

  static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("must be a path");
    }
  }

  /** An address block: an address, a slash and how many of its first bits count. */
  static AddressBlock addressBlock(String text) {
    try {
      return AddressBlock.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "must be address blocks such as 10.0.0.0/8 or fd00::/8, joined by commas", e);
    }
  }

  private static String matching(Pattern pattern, String text, String requirement) {
    if (!pattern.matcher(text).matches()) {
      throw new IllegalArgumentException(requirement);
    }
    return text;
  }
}
