package dev.weir.config;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What is to be set for many keys, as JSON lines: an object each, with the member {@code key} and
 * those that {@link KeyFormat} reads. Empty lines are passed over.
 */
public final class KeyLines {

  private KeyLines() {}

  /**
   * Reads lines. It takes a second for some hundred thousand of them.
   *
   * @param text in UTF-8
   * @param nowMillis the present, milliseconds since the epoch
   * @throws ConfigRefusedException with code 400 and every error found (the first 100), each with
   *     the number of its line
   */
  public static List<KeyLine> parse(byte[] text, long nowMillis) {
    Errors errors = new Errors();
    List<KeyLine> lines = new ArrayList<>();
    boolean empty = true;
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                new ByteArrayInputStream(text), StandardCharsets.UTF_8.newDecoder()))) {
      int number = 0;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        number++;
        if (!line.isBlank()) {
          empty = false;
          read(number, line, nowMillis, errors).ifPresent(lines::add);
        }
      }
    } catch (CharacterCodingException e) {
      throw new ConfigRefusedException(400, List.of("is not UTF-8"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (empty) {
      errors.add("", "has no line");
    }
    errors.throwIfAny();
    return lines;
  }

  private static Optional<KeyLine> read(int number, String line, long nowMillis, Errors errors) {
    Map<String, Object> members;
    try {
      members = new JsonObject(line).getMap();
    } catch (DecodeException e) {
      errors.add(path(number), "must be a JSON object");
      return Optional.empty();
    }
    if (!(members.remove("key") instanceof String key)) {
      errors.add(path(number), "key: must be text");
      return Optional.empty();
    }
    Optional<String> fault = Names.faultOfKey(key);
    if (fault.isPresent()) {
      errors.add(path(number), "key: " + fault.get());
      return Optional.empty();
    }
    try {
      return Optional.of(new KeyLine(number, key, KeyFormat.parse(members, nowMillis)));
    } catch (ConfigRefusedException e) {
      e.errors().forEach(error -> errors.add(path(number), error));
      return Optional.empty();
    }
  }

  /**
   * What {@code lines}, taken one after another, make of what is set.
   *
   * @param before what is set of a key
   * @return what differs from before
   * @throws ConfigRefusedException with code 400 and every line that does not fit the plans
   */
  static Map<String, KeySetting> changes(
      List<KeyLine> lines, ConfigDocument document, Function<String, KeySetting> before) {
    Errors errors = new Errors();
    Map<String, KeySetting> changes = new HashMap<>();
    for (KeyLine line : lines) {
      KeySetting there = changes.getOrDefault(line.key(), before.apply(line.key()));
      KeySetting next = there.with(line.setting());
      try {
        document.checkSetting(line.key(), line.setting(), there.plan());
      } catch (ConfigRefusedException e) {
        e.errors().forEach(error -> errors.add(path(line.number()), error));
      }
      if (!next.equals(there)) {
        changes.put(line.key(), next);
      }
    }
    errors.throwIfAny();
    return changes;
  }

  private static String path(int number) {
    return "line " + number;
  }
}
