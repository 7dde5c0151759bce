package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SlidingLogTest {

  private static final SlidingLog TEN_A_MINUTE = new SlidingLog(10, Duration.ofMinutes(1));

  @Test
  void whenACostFitsIsKnownForTheCostThatWasAskedForAlone() {
    Consumption told = new Consumption(9, 4, 12_000_000);
    assertThat(TEN_A_MINUTE.microsUntilFits(told, 2_000_000, 4)).isEqualTo(10_000_000);
    assertThat(TEN_A_MINUTE.microsUntilFits(told, 13_000_000, 4)).isZero();
    assertThat(TEN_A_MINUTE.microsUntilFits(told, 2_000_000, 3)).isZero();
  }

  @Test
  void afterAWindowNothingCounts() {
    Consumption told = new Consumption(9, 0, 0);
    assertThat(TEN_A_MINUTE.levelAfter(told, 59_999_999)).isEqualTo(9);
    assertThat(TEN_A_MINUTE.levelAfter(told, 60_000_000)).isZero();
    assertThat(TEN_A_MINUTE.microsUntilReset(told, 59_000_000)).isEqualTo(1_000_000);
    assertThat(TEN_A_MINUTE.microsUntilReset(Consumption.NONE, 0)).isZero();
  }

  @Test
  void itIsNeverLeased() {
    assertThat(TEN_A_MINUTE.leasable()).isFalse();
    assertThat(new Limit("log", Set.of(), TEN_A_MINUTE).leased()).isFalse();
  }
}
