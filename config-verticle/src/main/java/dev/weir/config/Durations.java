package dev.weir.config;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as users write them: a whole number and one unit, {@code 500ms} or {@code 1m}. */
public final class Durations {

  /**
   * Eleven digits of days are still a {@code long} of milliseconds, and fourteen of milliseconds
   * cover every span that a plan may have.
   */
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,11}(?!ms)|[0-9]{1,14}(?=ms))(ms|s|m|h|d)");

  private Durations() {}

  /**
   * Reads a duration of 0 or more.
   *
   * @throws IllegalArgumentException if {@code text} is anything else, a number without a unit or a
   *     fraction included; the message is fit to follow the name of a setting
   */
  public static Duration parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "must be a whole number with a unit like 500ms, 1s, 1m, 1h or 1d, was "
              + Errors.shown(text));
    }
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  /**
   * Writes {@code duration} in the largest unit that it is a whole number of, down to 1 ms.
   *
   * @throws ArithmeticException if it is longer than {@link #parse} ever reads
   */
  public static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds % 60 != 0 || seconds == 0) {
      return seconds + "s";
    }
    if (seconds % 3600 != 0) {
      return seconds / 60 + "m";
    }
    if (seconds % 86_400 != 0) {
      return seconds / 3600 + "h";
    }
    return seconds / 86_400 + "d";
  }
}
