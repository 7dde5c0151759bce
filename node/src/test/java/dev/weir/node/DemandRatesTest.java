package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DemandRatesTest {

  private static final Duration PERIOD = Duration.ofSeconds(5);

  private final VirtualClock clock = new VirtualClock();
  private final DemandRates rates = new DemandRates(clock, Map.of("gold", 100L));
  private long total = 100;

  private void sample(int times, long permitsPerSecond) {
    for (int i = 0; i < times; i++) {
      clock.advance(PERIOD);
      total += permitsPerSecond * 5;
      rates.sample(Map.of("gold", total));
    }
  }

  @Test
  void steadyDemandIsTold() {
    sample(60, 40);
    assertThat(told().get("gold")).isCloseTo(40, within(0.1));
  }

  private Map<String, Double> told() {
    return rates.rates().orElseThrow();
  }

  @Test
  void nothingIsToldBeforeItIsKnown() {
    assertThat(rates.rates()).isEmpty();
  }

  @Test
  void demandIsToldWholeFromTheFirstSampleOn() {
    sample(1, 40);
    assertThat(told().get("gold")).isCloseTo(40, within(0.1));
    sample(3, 40);
    assertThat(told().get("gold")).isCloseTo(40, within(0.1));
  }

  @Test
  void demandOfAPlanThatIsNewIsToldWhole() {
    sample(20, 40);
    clock.advance(PERIOD);
    rates.sample(Map.of("gold", total, "late", 500L));
    assertThat(told().get("late")).isCloseTo(100, within(0.1));
  }

  @Test
  void newDemandCountsForMostOfItAfterHalfAMinute() {
    sample(100, 0);
    sample(6, 40);
    assertThat(told().get("gold")).isCloseTo(40 * (1 - Math.exp(-1)), within(0.1));
  }

  @Test
  void demandThatHasEndedIsForgotten() {
    sample(10, 40);
    sample(200, 0);
    assertThat(told()).isEmpty();
  }

  @Test
  void planThatIsGoneHasNoDemandAndOneThatIsBackNoneBelowNothing() {
    sample(10, 40);
    clock.advance(PERIOD);
    rates.sample(Map.of());
    assertThat(told()).isEmpty();

    clock.advance(PERIOD);
    rates.sample(Map.of("gold", 5L));
    assertThat(told().get("gold")).isBetween(0.0, 1.0);
  }

  @Test
  void clockThatStandsStillChangesNothing() {
    sample(10, 40);
    Map<String, Double> before = told();
    rates.sample(Map.of("gold", total + 1000));
    assertThat(told()).isEqualTo(before);
  }
}
