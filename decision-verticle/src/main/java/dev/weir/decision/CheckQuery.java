package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.CheckRequestMembers;
import java.nio.charset.CharacterCodingException;

/**
 * Reads a check from a query: {@code key=acme&cost=3}, with {@code +} for a space, as forms and the
 * query builders of every language write it. It is as strict as JSON: a name given twice, an
 * unknown name or a wrong escape is refused, never guessed at.
 */
final class CheckQuery {

  private CheckQuery() {}

  /**
   * The check that {@code query} asks for.
   *
   * @param query as it stands in the request line, empty for none
   * @throws CheckRefusedException with code 400 if it is no check
   */
  static CheckRequest read(String query) {
    CheckRequestMembers members = new CheckRequestMembers();
    int start = 0;
    while (start < query.length()) {
      int end = query.indexOf('&', start);
      if (end < 0) {
        end = query.length();
      }
      if (end > start) {
        readPair(query.substring(start, end), members);
      }
      start = end + 1;
    }
    return members.toRequest();
  }

  private static void readPair(String pair, CheckRequestMembers members) {
    int equals = pair.indexOf('=');
    String name = decode(equals < 0 ? pair : pair.substring(0, equals));
    String value = equals < 0 ? "" : decode(pair.substring(equals + 1));
    members.put(name, name.equals("cost") ? number(value) : value);
  }

  /** A run of digits as a number; what is none stays text, which is no cost. */
  private static Object number(String text) {
    // 18 digits fit a long and are beyond any cost.
    if (text.isEmpty() || text.length() > 18) {
      return text;
    }
    long number = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return text;
      }
      number = number * 10 + (c - '0');
    }
    return number;
  }

  private static String decode(String encoded) {
    byte[] bytes = new byte[encoded.length()];
    int length = 0;
    boolean plain = true;
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        if (i + 2 >= encoded.length()) {
          throw badEscape();
        }
        int high = Character.digit(encoded.charAt(i + 1), 16);
        int low = Character.digit(encoded.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          throw badEscape();
        }
        bytes[length++] = (byte) (high << 4 | low);
        plain = false;
        i += 2;
      } else if (c == '+') {
        bytes[length++] = ' ';
        plain = false;
      } else if (c > ' ' && c < 0x7f) {
        bytes[length++] = (byte) c;
      } else {
        throw CheckRefusedException.badRequest(
            "query: must be percent-encoded UTF-8, has a raw character other than ASCII");
      }
    }
    if (plain) {
      return encoded;
    }
    try {
      return StrictUtf8.decode(bytes, length).toString();
    } catch (CharacterCodingException malformed) {
      throw CheckRefusedException.badRequest("query: is not UTF-8 when percent-decoded");
    }
  }

  private static CheckRefusedException badEscape() {
    return CheckRefusedException.badRequest(
        "query: has a percent sign that no two hexadecimal digits follow");
  }
}
