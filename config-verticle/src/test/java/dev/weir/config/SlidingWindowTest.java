package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SlidingWindowTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void theWindowBeforeCountsByWhatOverlaps() {
    SlidingWindow window = new SlidingWindow(100, MINUTE);
    Consumption told = new Consumption(10, 40, 30_000_000);
    assertThat(window.levelAfter(told, 0)).isEqualTo(10 + 20);
    assertThat(window.levelAfter(told, 15_000_000)).isEqualTo(10 + 10);
    assertThat(window.levelAfter(told, 30_000_000)).isEqualTo(10);
    assertThat(window.levelAfter(told, 60_000_000)).isEqualTo(5);
    assertThat(window.levelAfter(told, 90_000_000)).isZero();
    assertThat(window.levelAfter(told, -5)).isEqualTo(30);
    assertThat(window.microsUntilReset(told, 0)).isEqualTo(90_000_000);
    assertThat(window.microsUntilReset(new Consumption(0, 40, 30_000_000), 0))
        .isEqualTo(30_000_000);
    assertThat(window.microsUntilReset(Consumption.NONE, 0)).isZero();
  }

  @Test
  void theNumbersFollow() {
    SlidingWindow window = new SlidingWindow(100, Duration.ofMillis(1500));
    assertThat(window.quota()).isEqualTo(100);
    assertThat(window.windowSeconds()).isEqualTo(2);
    assertThat(window.admittedOver(60_000_000)).isEqualTo(4000);
    assertThat(new SlidingWindow(100, Duration.ofHours(1)).admittedOver(60_000_000)).isEqualTo(100);
    assertThat(
            new SlidingWindow(Algorithm.MAX_QUOTA, Duration.ofMillis(1))
                .admittedOver(Long.MAX_VALUE))
        .isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new SlidingWindow(-1, MINUTE)).hasMessageStartingWith("limit: ");
    assertThatThrownBy(() -> new SlidingWindow(Algorithm.MAX_QUOTA + 1, MINUTE))
        .hasMessageStartingWith("limit: ");
    for (Duration window :
        new Duration[] {Duration.ZERO, Duration.ofNanos(1_500_000), Duration.ofDays(3661)}) {
      assertThatThrownBy(() -> new SlidingWindow(1, window)).hasMessageStartingWith("window: ");
      assertThatThrownBy(() -> new SlidingLog(1, window)).hasMessageStartingWith("window: ");
      assertThatThrownBy(() -> new WindowPeriod.Every(window)).hasMessageStartingWith("window: ");
    }
  }

  @Property
  void waitingTheTimeThatItTellsMakesTheCostFitAndMuchLessDoesNot(
      @ForAll @LongRange(min = 0, max = Algorithm.MAX_QUOTA) long limit,
      @ForAll @LongRange(min = 1, max = 316_224_000_000L) long windowMillis,
      @ForAll @DoubleRange(min = 0, max = 3) double usedPart,
      @ForAll @DoubleRange(min = 0, max = 3) double previousPart,
      @ForAll @DoubleRange(min = 0, max = 1) double leftPart,
      @ForAll @DoubleRange(min = 0, max = 2) double elapsedPart,
      @ForAll @DoubleRange(min = 0, max = 1) double costPart) {
    SlidingWindow window = new SlidingWindow(limit, Duration.ofMillis(windowMillis));
    long micros = window.windowMicros();
    Consumption told =
        new Consumption(
            Math.floor(usedPart * limit),
            Math.floor(previousPart * limit),
            Math.max(1, (long) (leftPart * micros)));
    long elapsed = (long) (elapsedPart * micros);
    long cost = (long) (costPart * limit);

    long wait = window.microsUntilFits(told, elapsed, cost);
    assertThat(wait).isBetween(0L, 2 * micros);
    assertThat(window.fits(window.levelAfter(told, elapsed + wait), cost)).isTrue();
    if (wait > 2) {
      // Two microseconds, or as long as a billionth of the counts takes to slide out.
      long sooner = wait - 2 - (long) (1e-9 * micros);
      assertThat(sooner <= 0 || !window.fits(window.levelAfter(told, elapsed + sooner), cost))
          .isTrue();
    }
  }

  /** Against a model that keeps the two counters itself. */
  @Property(tries = 200)
  void aFloodGetsTheLimitInTheLongRunAndAtMostTwiceThatInAnySpanOfAWindow(
      @ForAll @IntRange(min = 1, max = 300) int stepMillis,
      @ForAll @IntRange(min = 0, max = 999) int startMillis) {
    SlidingWindow window = new SlidingWindow(3, Duration.ofSeconds(1));
    Deque<Long> lastSecond = new ArrayDeque<>();
    long admitted = 0;
    long used = 0;
    long previous = 0;
    long index = 0;
    long end = startMillis * 1000L + 60_000_000;
    for (long now = startMillis * 1000L; now < end; now += stepMillis * 1000L) {
      long nowIndex = now / 1_000_000;
      if (nowIndex != index) {
        previous = nowIndex == index + 1 ? used : 0;
        used = 0;
        index = nowIndex;
      }
      Consumption told = new Consumption(used, previous, (index + 1) * 1_000_000 - now);
      if (window.fits(window.levelAfter(told, 0), 1)) {
        used++;
        admitted++;
        lastSecond.add(now);
      }
      while (!lastSecond.isEmpty() && lastSecond.peekFirst() <= now - 1_000_000) {
        lastSecond.removeFirst();
      }
      assertThat(lastSecond).hasSizeLessThanOrEqualTo(6);
    }
    assertThat(admitted).isLessThanOrEqualTo(60 * 3L + 3);
    // Who asks less often may come too late for the last permit of a window.
    if (stepMillis <= 100) {
      assertThat(admitted).isGreaterThanOrEqualTo(60 * 3L - 3);
    }
  }
}
