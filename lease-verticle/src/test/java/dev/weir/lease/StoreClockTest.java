package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StoreClockTest {

  private final VirtualClock local = new VirtualClock();
  private final StoreClock clock = new StoreClock(local);

  @Test
  void isTheWallClockUntilTheStoreHasSpoken() {
    local.advance(Duration.ofSeconds(3));
    assertThat(clock.epochMillis()).isEqualTo(local.epochMillis());
  }

  @Test
  void isTheStoresTimeFromItsFirstWord() {
    clock.observe(5_000_000);
    local.advance(Duration.ofMillis(250));
    assertThat(clock.micros()).isEqualTo(5_250_000);
  }

  @Test
  void smoothsWhatIsOnlyASlowReply() {
    clock.observe(5_000_000);
    local.advance(Duration.ofMillis(8));
    clock.observe(5_000_000);
    assertThat(clock.micros()).isEqualTo(5_007_000);
  }

  @Test
  void followsAClockThatWasSetAtOnce() {
    clock.observe(500_000_000);
    clock.observe(100_000_000);
    assertThat(clock.micros()).isEqualTo(100_000_000);
    clock.observe(900_000_000);
    assertThat(clock.micros()).isEqualTo(900_000_000);
  }
}
