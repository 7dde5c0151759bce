package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.config.WindowPeriod.Every;
import java.time.Duration;
import java.time.ZoneId;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class FixedWindowTest {

  private static final FixedWindow TEN_A_MINUTE =
      new FixedWindow(10, new Every(Duration.ofMinutes(1)));

  @Test
  void whatIsCountedEndsWithTheWindow() {
    Consumption told = new Consumption(7, 0, 20_000_000);
    assertThat(TEN_A_MINUTE.levelAfter(told, 19_999_999)).isEqualTo(7);
    assertThat(TEN_A_MINUTE.levelAfter(told, 20_000_000)).isZero();
    assertThat(TEN_A_MINUTE.levelAfter(told, -1)).isEqualTo(7);
    assertThat(TEN_A_MINUTE.microsUntilFits(told, 5_000_000, 3)).isZero();
    assertThat(TEN_A_MINUTE.microsUntilFits(told, 5_000_000, 4)).isEqualTo(15_000_000);
    assertThat(TEN_A_MINUTE.microsUntilReset(told, 5_000_000)).isEqualTo(15_000_000);
    assertThat(TEN_A_MINUTE.microsUntilReset(told, 25_000_000)).isZero();
  }

  @Test
  void theNumbersFollow() {
    assertThat(TEN_A_MINUTE.quota()).isEqualTo(10);
    assertThat(TEN_A_MINUTE.windowSeconds()).isEqualTo(60);
    assertThat(TEN_A_MINUTE.admittedOver(120_000_000)).isEqualTo(20);
    FixedWindow monthly =
        new FixedWindow(1_000_000, new Calendar(CalendarUnit.MONTH, ZoneId.of("UTC")));
    assertThat(monthly.windowSeconds()).isEqualTo(Duration.ofDays(31).toSeconds());
    assertThat(monthly.admittedOver(60_000_000)).isEqualTo(1_000_000);
  }

  @Property
  void waitingTheTimeThatItTellsMakesTheCostFit(
      @ForAll @LongRange(min = 0, max = 30) long used,
      @ForAll @LongRange(min = 1, max = 60_000_000) long left,
      @ForAll @LongRange(min = -5, max = 70_000_000) long elapsed,
      @ForAll @LongRange(min = -3, max = 10) long cost) {
    Consumption told = new Consumption(used, 0, left);
    long wait = TEN_A_MINUTE.microsUntilFits(told, elapsed, cost);
    long now = Math.max(0, elapsed);
    assertThat(TEN_A_MINUTE.fits(TEN_A_MINUTE.levelAfter(told, now + wait), cost)).isTrue();
    assertThat(wait == 0 || !TEN_A_MINUTE.fits(TEN_A_MINUTE.levelAfter(told, now + wait - 1), cost))
        .isTrue();
  }
}
