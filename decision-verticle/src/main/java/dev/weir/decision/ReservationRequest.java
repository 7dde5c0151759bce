package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.Durations;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * A question to the limiter: may this key hold this much for a while?
 *
 * @param check of what is to be held
 * @param life until it goes back by itself, 1 s to 1 h, whole milliseconds
 */
record ReservationRequest(CheckRequest check, Duration life) {
  static final Duration DEFAULT_LIFE = Duration.ofSeconds(60);

  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final BigDecimal LONGEST_SECONDS = BigDecimal.valueOf(LONGEST.toSeconds());

  /**
   * The time to live that a member is: a duration like {@code "30s"}, or seconds.
   *
   * @param value as JSON has it
   * @throws CheckRefusedException with code 400 if it is none
   */
  static Duration life(Object value) {
    Duration life = Duration.ZERO;
    if (value instanceof String text) {
      life = parse(text);
    } else if (value instanceof Number number) {
      life = seconds(number);
    }
    if (life.compareTo(SHORTEST) < 0 || life.compareTo(LONGEST) > 0) {
      throw CheckRefusedException.badRequest(
          "ttl: must be from 1s to 1h, a duration like \"30s\" or a number of seconds");
    }
    return life;
  }

  private static Duration parse(String text) {
    try {
      return Durations.parse(text);
    } catch (IllegalArgumentException notOne) {
      return Duration.ZERO;
    }
  }

  /** Down to the millisecond; what is out of range becomes zero. */
  private static Duration seconds(Number number) {
    try {
      BigDecimal exact = new BigDecimal(number.toString());
      // The order matters: a huge number must not be written out.
      boolean within = exact.signum() > 0 && exact.compareTo(LONGEST_SECONDS) <= 0;
      return within ? Duration.ofMillis(exact.movePointRight(3).longValue()) : Duration.ZERO;
    } catch (NumberFormatException notFinite) {
      return Duration.ZERO;
    }
  }
}
