package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.config.WindowPeriod.CalendarUnit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalendarTest {

  @ParameterizedTest
  @CsvSource({
    // Every fourth year has 366 days, a hundredth has not, a four hundredth has.
    "YEAR,  UTC,              2024-12-31T23:59:59Z, 2024-01-01T00:00:00Z, 2025-01-01T00:00:00Z",
    "YEAR,  UTC,              2025-01-01T00:00:00Z, 2025-01-01T00:00:00Z, 2026-01-01T00:00:00Z",
    "MONTH, UTC,              2024-02-29T12:00:00Z, 2024-02-01T00:00:00Z, 2024-03-01T00:00:00Z",
    "MONTH, UTC,              2100-02-28T23:59:59Z, 2100-02-01T00:00:00Z, 2100-03-01T00:00:00Z",
    "MONTH, UTC,              2000-02-29T00:00:00Z, 2000-02-01T00:00:00Z, 2000-03-01T00:00:00Z",
    "MONTH, UTC,              2023-12-31T23:59:59Z, 2023-12-01T00:00:00Z, 2024-01-01T00:00:00Z",
    // In the zone the month is another one already, or still.
    "MONTH, Europe/Berlin,    2024-01-31T22:59:59Z, 2023-12-31T23:00:00Z, 2024-01-31T23:00:00Z",
    "MONTH, Europe/Berlin,    2024-01-31T23:00:00Z, 2024-01-31T23:00:00Z, 2024-02-29T23:00:00Z",
    "MONTH, Europe/Berlin,    2024-03-15T00:00:00Z, 2024-02-29T23:00:00Z, 2024-03-31T22:00:00Z",
    "DAY,   Asia/Kathmandu,   2024-06-01T18:15:00Z, 2024-06-01T18:15:00Z, 2024-06-02T18:15:00Z",
    // Days of 23 and of 25 hours.
    "DAY,   Europe/Berlin,    2024-03-31T10:00:00Z, 2024-03-30T23:00:00Z, 2024-03-31T22:00:00Z",
    "DAY,   Europe/Berlin,    2024-10-27T00:30:00Z, 2024-10-26T22:00:00Z, 2024-10-27T23:00:00Z",
    "DAY,   Europe/Berlin,    2024-10-27T01:30:00Z, 2024-10-26T22:00:00Z, 2024-10-27T23:00:00Z",
    // The clock skips midnight, and repeats the hour before it.
    "DAY,   America/Santiago, 2024-09-08T12:00:00Z, 2024-09-08T04:00:00Z, 2024-09-09T03:00:00Z",
    "DAY,   America/Santiago, 2024-04-07T03:30:00Z, 2024-04-06T03:00:00Z, 2024-04-07T04:00:00Z",
    // Samoa had no 30 December 2011.
    "DAY,   Pacific/Apia,     2011-12-30T09:59:59Z, 2011-12-29T10:00:00Z, 2011-12-30T10:00:00Z",
    "DAY,   Pacific/Apia,     2011-12-30T10:00:00Z, 2011-12-30T10:00:00Z, 2011-12-31T10:00:00Z",
  })
  void aWindowRunsFromMidnightToMidnightOfItsZone(
      CalendarUnit unit, String zone, Instant instant, Instant start, Instant end) {
    Calendar calendar = new Calendar(unit, ZoneId.of(zone));
    assertThat(calendar.start(instant)).isEqualTo(start);
    assertThat(calendar.end(instant)).isEqualTo(end);
  }

  @Property
  void windowsFollowEachOtherWithoutAGap(
      @ForAll("calendars") Calendar calendar,
      @ForAll @LongRange(min = 0, max = 4_102_444_800L) long second) {
    Instant instant = Instant.ofEpochSecond(second);
    Instant start = calendar.start(instant);
    Instant end = calendar.end(instant);

    assertThat(instant).isBetween(start, end.minusNanos(1));
    assertThat(calendar.start(start)).isEqualTo(start);
    assertThat(calendar.end(end.minusNanos(1))).isEqualTo(end);
    assertThat(calendar.start(end)).isEqualTo(end);
    assertThat(calendar.start(start.minusNanos(1))).isBefore(start);
    assertThat(calendar.end(start.minusNanos(1))).isEqualTo(start);
    assertThat(Duration.between(start, end)).isLessThanOrEqualTo(calendar.nominal().plusHours(1));
  }

  @Provide
  static Arbitrary<Calendar> calendars() {
    Arbitrary<ZoneId> zones =
        Arbitraries.of(
                "UTC",
                "Europe/Berlin",
                "America/Santiago",
                "America/New_York",
                "Australia/Lord_Howe",
                "Asia/Kathmandu",
                "Africa/Casablanca",
                "+14:00",
                "-12:00")
            .map(ZoneId::of);
    return Combinators.combine(Arbitraries.of(CalendarUnit.class), zones).as(Calendar::new);
  }
}
