package dev.weir.decision;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.CheckRequestMembers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads a check, or a batch of them, from JSON without building a tree of it: members are taken as
 * they are read, and reading stops at the first mistake, so that depth, size and number of members
 * cost nothing.
 */
final class CheckBody {

  /** Most checks in a batch. */
  static final int MAX_CHECKS = 10_000;

  /**
   * Names are compared once and dropped, and the callers choose them: nothing to keep for reuse.
   */
  private static final JsonFactory JSON =
      new JsonFactoryBuilder()
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private CheckBody() {}

  /**
   * The check that {@code body} is.
   *
   * @throws CheckRefusedException with code 400 if it is none
   */
  static CheckRequest readCheck(byte[] body) {
    return read(
        body,
        parser -> {
          if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw CheckRefusedException.badRequest("body: must be a JSON object");
          }
          return readMembers(parser);
        });
  }

  /**
   * The reservation that {@code body} asks for: a check and, if it likes, {@code ttl}.
   *
   * @throws CheckRefusedException with code 400 if it is none
   */
  static ReservationRequest readReservation(byte[] body) {
    return read(
        body,
        parser -> {
          if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw CheckRefusedException.badRequest("body: must be a JSON object");
          }
          CheckRequestMembers members = new CheckRequestMembers();
          Optional<Duration> life = Optional.empty();
          for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            Object value = value(parser.nextToken(), parser);
            if (!name.equals("ttl")) {
              members.put(name, value);
            } else if (life.isPresent()) {
              throw CheckRefusedException.badRequest("ttl: is given more than once");
            } else {
              life = Optional.of(ReservationRequest.life(value));
            }
          }
          return new ReservationRequest(
              members.toRequest(), life.orElse(ReservationRequest.DEFAULT_LIFE));
        });
  }

  /**
   * The {@code cost} that {@code body} asks to commit; empty if it does not say.
   *
   * @throws CheckRefusedException with code 400 if it is no such thing
   */
  static OptionalLong readCommit(byte[] body) {
    if (body.length == 0) {
      return OptionalLong.empty();
    }
    return read(
        body,
        parser -> {
          if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw CheckRefusedException.badRequest("body: must be a JSON object");
          }
          OptionalLong cost = OptionalLong.empty();
          for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            if (!name.equals("cost")) {
              throw CheckRefusedException.badRequest("body: has a member other than cost");
            }
            if (cost.isPresent()) {
              throw CheckRefusedException.badRequest("cost: is given more than once");
            }
            cost = OptionalLong.of(CheckRequestMembers.costOf(value(parser.nextToken(), parser)));
          }
          return cost;
        });
  }

  /**
   * The checks of {@code {"checks":[...]}}, in order.
   *
   * @throws CheckRefusedException with code 400 if {@code body} is not that, or any of the checks
   *     is none; the message then has its index
   */
  static List<CheckRequest> readBatch(byte[] body) {
    return read(
        body,
        parser -> {
          if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw CheckRefusedException.badRequest("body: must be a JSON object");
          }
          String name = parser.nextFieldName();
          if (name == null) {
            throw CheckRefusedException.badRequest("checks: is missing");
          }
          if (!name.equals("checks")) {
            throw notOfABatch(name);
          }
          List<CheckRequest> checks = readChecks(parser);
          String second = parser.nextFieldName();
          if (second != null) {
            throw notOfABatch(second);
          }
          return checks;
        });
  }

  private static CheckRefusedException notOfABatch(String name) {
    return CheckRefusedException.badRequest(
        name.equals("checks")
            ? "checks: is given more than once"
            : "body: has a member other than checks");
  }

  private static List<CheckRequest> readChecks(JsonParser parser) throws IOException {
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw CheckRefusedException.badRequest("checks: must be an array");
    }
    List<CheckRequest> checks = new ArrayList<>();
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      if (checks.size() == MAX_CHECKS) {
        throw CheckRefusedException.badRequest(
            "checks: must have at most " + MAX_CHECKS + " entries");
      }
      if (token != JsonToken.START_OBJECT) {
        throw CheckRefusedException.badRequest(pathOf(checks.size()) + ": must be an object");
      }
      try {
        checks.add(readMembers(parser));
      } catch (CheckRefusedException refused) {
        throw refused.within(pathOf(checks.size()));
      }
    }
    return checks;
  }

  /** Where the check at {@code index} stands in a batch, as messages have it. */
  static String pathOf(int index) {
    return "checks[" + index + "]";
  }

  private static CheckRequest readMembers(JsonParser parser) throws IOException {
    CheckRequestMembers members = new CheckRequestMembers();
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      members.put(name, value(parser.nextToken(), parser));
    }
    return members.toRequest();
  }

  private static Object value(JsonToken token, JsonParser parser) throws IOException {
    return switch (token) {
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> decimal(parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> token == JsonToken.VALUE_TRUE;
      case START_OBJECT -> Map.of();
      case START_ARRAY -> List.of();
      default -> null;
    };
  }

  private static Number decimal(String text) {
    try {
      return new BigDecimal(text);
    } catch (NumberFormatException exponentOutOfRange) {
      return Double.NaN;
    }
  }

  private static <T> T read(byte[] body, Reader<T> reader) {
    CharBuffer text;
    try {
      text = StrictUtf8.decode(body, body.length);
    } catch (CharacterCodingException malformed) {
      throw CheckRefusedException.badRequest("body: is not UTF-8");
    }
    try (JsonParser parser = JSON.createParser(text.array(), 0, text.length())) {
      T value = reader.read(parser);
      if (parser.nextToken() != null) {
        throw CheckRefusedException.badRequest("body: has more than one JSON value");
      }
      return value;
    } catch (StreamConstraintsException excessive) {
      throw CheckRefusedException.badRequest("body: has a name or a number of excessive length");
    } catch (JsonProcessingException malformed) {
      throw CheckRefusedException.badRequest(
          "body: is not JSON, at line "
              + malformed.getLocation().getLineNr()
              + ", column "
              + malformed.getLocation().getColumnNr());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private interface Reader<T> {
    T read(JsonParser parser) throws IOException;
  }
}
