package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RoughTimeTest {

  private final AtomicLong exact = new AtomicLong(1);
  private final AtomicLong looks = new AtomicLong();
  private final RoughTime time =
      new RoughTime(
          () -> {
            looks.incrementAndGet();
            return exact.get();
          });

  @Test
  void followsTheExactTime() {
    for (long now = 2; now < 20; now++) {
      exact.set(now);
      await().until(() -> time.micros() == exact.get());
    }
  }

  @Test
  void restsWhileNobodyAsksAndTellsTheExactTimeToWhoeverAsksNext() {
    assertThat(time.micros()).isEqualTo(1);
    AtomicLong looksBefore = new AtomicLong();
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> looksBefore.getAndSet(looks.get()) == looks.get());
    exact.set(7);
    assertThat(time.micros()).isEqualTo(7);
    exact.set(9);
    await().until(() -> time.micros() == 9);
    exact.set(12);
    await().until(() -> time.micros() == 12);
  }
}
