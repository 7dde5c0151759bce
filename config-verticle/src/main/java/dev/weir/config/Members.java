package dev.weir.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The members of a map in a configuration, read one by one and checked on the way. A member that is
 * missing or wrong adds an error and reads as empty; what nobody has read at the end is unknown.
 */
final class Members {

  private final String path;
  private final Map<String, Object> unread = new HashMap<>();
  private final Errors errors;

  private Members(String path, Map<?, ?> members, Errors errors) {
    this.path = path;
    members.forEach((name, value) -> unread.put(String.valueOf(name), value));
    this.errors = errors;
  }

  /** The members of {@code value}, or an error if it is no map. */
  static Optional<Members> of(String path, Object value, Errors errors) {
    if (value instanceof Map<?, ?> map) {
      return Optional.of(new Members(path, map, errors));
    }
    errors.add(path, "must be a map, was " + Errors.shown(value));
    return Optional.empty();
  }

  boolean has(String name) {
    return unread.containsKey(name);
  }

  /** Takes the value of {@code name} as it is; null if it is missing or written as null. */
  Object take(String name) {
    return unread.remove(name);
  }

  void refuse(String name, String reason) {
    unread.remove(name);
    errors.add(Errors.join(path, name), reason);
  }

  OptionalDouble number(String name) {
    if (isMissing(name)) {
      return OptionalDouble.empty();
    }
    Object value = take(name);
    if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
      return OptionalDouble.of(number.doubleValue());
    }
    refuse(name, "must be a number, was " + Errors.shown(value));
    return OptionalDouble.empty();
  }

  OptionalLong whole(String name, long least, long most) {
    if (isMissing(name)) {
      return OptionalLong.empty();
    }
    Object value = take(name);
    OptionalLong whole = wholeOf(value, least, most);
    if (whole.isEmpty()) {
      refuse(name, notWhole(value, least, most));
    }
    return whole;
  }

  /** Whether {@code name} is written as true; a member left out is false. */
  boolean flag(String name) {
    if (!has(name)) {
      return false;
    }
    Object value = take(name);
    if (!(value instanceof Boolean)) {
      refuse(name, "must be true or false, was " + Errors.shown(value));
    }
    return Boolean.TRUE.equals(value);
  }

  Optional<String> text(String name) {
    if (isMissing(name)) {
      return Optional.empty();
    }
    Object value = take(name);
    if (value instanceof String text) {
      return Optional.of(text);
    }
    refuse(name, "must be text, was " + Errors.shown(value));
    return Optional.empty();
  }

  Optional<Duration> duration(String name) {
    if (isMissing(name)) {
      return Optional.empty();
    }
    Object value = take(name);
    try {
      // A number without a unit goes the same way, to be refused with the same words.
      return Optional.of(
          Durations.parse(value instanceof String text ? text : Errors.shown(value)));
    } catch (IllegalArgumentException e) {
      refuse(name, e.getMessage());
      return Optional.empty();
    }
  }

  /** Whether {@code name} is missing, which then is an error. */
  boolean isMissing(String name) {
    if (has(name)) {
      return false;
    }
    refuse(name, "is missing");
    return true;
  }

  /** Refuses every member that was not read. */
  void refuseRest(String known) {
    for (String name : List.copyOf(unread.keySet()).stream().sorted().toList()) {
      refuse(name, "is unknown; known: " + known);
    }
  }

  static OptionalLong wholeOf(Object value, long least, long most) {
    if (!(value instanceof Number number) || !Double.isFinite(number.doubleValue())) {
      return OptionalLong.empty();
    }
    BigDecimal exact = new BigDecimal(number.toString());
    if (exact.compareTo(BigDecimal.valueOf(least)) < 0
        || exact.compareTo(BigDecimal.valueOf(most)) > 0
        || exact.stripTrailingZeros().scale() > 0) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(exact.longValueExact());
  }

  static String notWhole(Object value, long least, long most) {
    return "must be a whole number from " + least + " to " + most + ", was " + Errors.shown(value);
  }
}
