package dev.weir.node;

import dev.weir.lease.UsageRecord;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * Which records are asked for.
 *
 * @param from windows that begin then or later, milliseconds since the epoch
 * @param to windows that begin before, milliseconds since the epoch
 */
record UsageFilter(
    Optional<Long> from, Optional<Long> to, Optional<String> key, Optional<String> plan) {

  /** Whether it lets everything pass. */
  boolean isEmpty() {
    return from.isEmpty() && to.isEmpty() && key.isEmpty() && plan.isEmpty();
  }

  boolean matches(UsageRecord record) {
    return from.map(time -> record.windowStartMillis() >= time).orElse(true)
        && to.map(time -> record.windowStartMillis() < time).orElse(true)
        && key.map(record.key()::equals).orElse(true)
        && plan.map(record.plan()::equals).orElse(true);
  }

  /**
   * Reads a time, or a date, which is its first moment in UTC.
   *
   * @throws IllegalArgumentException if it is neither
   */
  static long time(String text) {
    try {
      return OffsetDateTime.parse(text).toInstant().toEpochMilli();
    } catch (DateTimeException notATime) {
      try {
        return LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli();
      } catch (DateTimeException e) {
        throw new IllegalArgumentException(
            "must be a date or a time as RFC 3339 has it (2026-01-31 or 2026-01-31T12:00:00Z), was "
                + Quoted.of(text),
            e);
      }
    }
  }
}
