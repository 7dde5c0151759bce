package dev.weir.config;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;

/** How time is cut into windows. */
public sealed interface WindowPeriod {

  /** How long a window is, at most; an hour more where clocks are set back in it. */
  Duration nominal();

  /**
   * Windows of equal length. Each key's windows start at a moment of its own, lest all roll at
   * once.
   *
   * @param length at least a millisecond, at most ten years, whole milliseconds
   */
  record Every(Duration length) implements WindowPeriod {

    /**
     * @throws IllegalArgumentException if the length is out of its range
     */
    public Every {
      Windows.checkWindow(length);
    }

    @Override
    public Duration nominal() {
      return length;
    }
  }

  /**
   * Days, months or years as people count them, the same for all keys.
   *
   * @param unit of the calendar
   * @param zone whose midnights count
   */
  record Calendar(CalendarUnit unit, ZoneId zone) implements WindowPeriod {

    @Override
    public Duration nominal() {
      return unit.longest();
    }

    /** When the window that {@code instant} lies in began. */
    public Instant start(Instant instant) {
      return midnight(unit.firstDay(instant.atZone(zone).toLocalDate()));
    }

    /** When the window that {@code instant} lies in ends, and the next begins. */
    public Instant end(Instant instant) {
      return midnight(unit.next(unit.firstDay(instant.atZone(zone).toLocalDate())));
    }

    /** The first instant of the day: midnight, or later where the clock skips it. */
    private Instant midnight(LocalDate day) {
      ZonedDateTime start = day.atStartOfDay(zone);
      return start.toInstant();
    }
  }

  /** A unit of the calendar. */
  enum CalendarUnit {
    /** 24 hours, 23 or 25 where clocks change. */
    DAY("day", Duration.ofDays(1)) {
      @Override
      LocalDate firstDay(LocalDate day) {
        return day;
      }

      @Override
      LocalDate next(LocalDate firstDay) {
        return firstDay.plusDays(1);
      }
    },
    /** 28 to 31 days. */
    MONTH("month", Duration.ofDays(31)) {
      @Override
      LocalDate firstDay(LocalDate day) {
        return day.withDayOfMonth(1);
      }

      @Override
      LocalDate next(LocalDate firstDay) {
        return firstDay.plusMonths(1);
      }
    },
    /** 365 or 366 days. */
    YEAR("year", Duration.ofDays(366)) {
      @Override
      LocalDate firstDay(LocalDate day) {
        return day.withDayOfYear(1);
      }

      @Override
      LocalDate next(LocalDate firstDay) {
        return firstDay.plusYears(1);
      }
    };

    private final String wireName;
    private final Duration longest;

    CalendarUnit(String wireName, Duration longest) {
      this.wireName = wireName;
      this.longest = longest;
    }

    /** The name in plans. */
    public String wireName() {
      return wireName;
    }

    Duration longest() {
      return longest;
    }

    abstract LocalDate firstDay(LocalDate day);

    abstract LocalDate next(LocalDate firstDay);
  }
}
