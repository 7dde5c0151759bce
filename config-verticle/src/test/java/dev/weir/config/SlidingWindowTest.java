package dev.weir.config;

import static dev.weir.config.Consumption.Came.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Consumption.Came;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SlidingWindowTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final long SECOND = 1_000_000;

  @Test
  void permitsOfTheWindowBeforeLeaveAWindowAfterTheyCame() {
    SlidingWindow window = new SlidingWindow(100, MINUTE);
    // Five that came evenly in the first forty seconds of the window that is over since thirty.
    Consumption told = new Consumption(10, 5, 30 * SECOND, NOW, new Came(90 * SECOND, 50 * SECOND));
    assertThat(window.levelAfter(told, -5)).isEqualTo(10 + 2);
    assertThat(window.levelAfter(told, 0)).isEqualTo(10 + 2);
    assertThat(window.levelAfter(told, 6 * SECOND - 1)).isEqualTo(10 + 2);
    assertThat(window.levelAfter(told, 6 * SECOND)).isEqualTo(10 + 1);
    assertThat(window.levelAfter(told, 18 * SECOND)).isEqualTo(10);
    assertThat(window.levelAfter(told, 60 * SECOND - 1)).isEqualTo(10);
    assertThat(window.levelAfter(told, 60 * SECOND)).isEqualTo(9);
    assertThat(window.levelAfter(told, 66 * SECOND)).isEqualTo(8);
    assertThat(window.levelAfter(told, 90 * SECOND)).isZero();
    assertThat(window.microsUntilReset(told, 0)).isEqualTo(90 * SECOND);
    assertThat(window.microsUntilReset(told, 80 * SECOND)).isEqualTo(10 * SECOND);
    assertThat(window.microsUntilReset(Consumption.NONE, 0)).isZero();
  }

  @Test
  void permitsThatCameTogetherLeaveBitByBitAndAllWithTheNextWindow() {
    SlidingWindow window = new SlidingWindow(100, MINUTE);
    Came atOnce = new Came(70 * SECOND, 70 * SECOND);
    Consumption told = new Consumption(0, 60, 30 * SECOND, NOW, atOnce);
    assertThat(window.levelAfter(told, 0)).isEqualTo(49);
    assertThat(window.levelAfter(told, SECOND)).isEqualTo(48);
    assertThat(window.levelAfter(told, 30 * SECOND - 1)).isEqualTo(20);
    assertThat(window.levelAfter(told, 30 * SECOND)).isZero();
    assertThat(window.microsUntilFits(told, 0, 60)).isEqualTo(9 * SECOND);
    assertThat(window.microsUntilFits(told, 0, 100)).isEqualTo(30 * SECOND);
    assertThat(window.microsUntilFits(told, 0, 101)).isEqualTo(30 * SECOND);
    assertThat(window.microsUntilReset(told, 0)).isEqualTo(30 * SECOND);
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
      @ForAll @DoubleRange(min = 0, max = 1) double costPart,
      @ForAll @DoubleRange(min = 0, max = 1) double firstPart,
      @ForAll @DoubleRange(min = 0, max = 1) double lastPart) {
    SlidingWindow window = new SlidingWindow(limit, Duration.ofMillis(windowMillis));
    long micros = window.windowMicros();
    long left = Math.max(1, (long) (leftPart * micros));
    long into = micros - left;
    long first = (long) (firstPart * micros);
    Consumption told =
        new Consumption(
            Math.floor(usedPart * limit),
            Math.floor(previousPart * limit),
            left,
            new Came((long) (firstPart * into), (long) (firstPart * lastPart * into)),
            new Came(into + first, into + (long) (lastPart * first)));
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

  /** The two windows of a store. */
  private static final class Counted {
    private static final int FIRST = 1;
    private static final int LAST = 2;

    private final SlidingWindow window;
    private long number;
    private long[] current = new long[3];
    private long[] former = new long[3];

    Counted(SlidingWindow window) {
      this.window = window;
    }

    boolean take(long now) {
      long length = window.windowMicros();
      if (now / length != number) {
        former = now / length == number + 1 ? current : new long[3];
        current = new long[3];
        number = now / length;
      }
      Consumption told =
          new Consumption(
              current[0],
              former[0],
              (number + 1) * length - now,
              came(current, now),
              came(former, now));
      if (!window.fits(window.levelAfter(told, 0), 1)) {
        return false;
      }
      current[FIRST] = current[0] == 0 ? now : current[FIRST];
      current[LAST] = now;
      current[0]++;
      return true;
    }

    private static Came came(long[] count, long now) {
      return new Came(now - count[FIRST], now - count[LAST]);
    }
  }

  /** The most of {@code times} in any span of a window, its start included and its end not. */
  private static int mostIn(long windowMicros, List<Long> times) {
    int most = 0;
    int from = 0;
    for (int i = 0; i < times.size(); i++) {
      while (times.get(i) - times.get(from) >= windowMicros) {
        from++;
      }
      most = Math.max(most, i - from + 1);
    }
    return most;
  }

  @Property(tries = 200)
  void whoAsksAgainAndAgainGetsTheLimitInTheLongRunAndNeverMoreThanOneAboveIt(
      @ForAll @IntRange(min = 1, max = 10) int limit,
      @ForAll @IntRange(min = 1, max = 30) int stepMillis,
      @ForAll @IntRange(min = 0, max = 999) int startMillis) {
    Counted counted = new Counted(new SlidingWindow(limit, Duration.ofSeconds(1)));
    List<Long> admitted = new ArrayList<>();
    long start = startMillis * 1000L;
    for (long now = start; now < start + 60 * SECOND; now += stepMillis * 1000L) {
      while (counted.take(now)) {
        admitted.add(now);
      }
    }
    // With both ends of the span.
    assertThat(mostIn(SECOND + 1, admitted)).isLessThanOrEqualTo(limit + 1);
    // Up to the time of one question a window is lost.
    double atLeast = 60.0 * limit * 1000 / (1000 + stepMillis);
    assertThat(admitted).hasSizeBetween((int) atLeast - limit, 60 * limit + limit);
  }

  @Property(tries = 200)
  void asksOfAnyKindGetAtMostOneAboveALimitOfThree(
      @ForAll @Size(min = 10, max = 400) List<@LongRange(min = 0, max = 700_000) Long> pauses,
      @ForAll @LongRange(min = 0, max = 999_999) long start) {
    Counted counted = new Counted(new SlidingWindow(3, Duration.ofSeconds(1)));
    List<Long> admitted = new ArrayList<>();
    long now = start;
    for (long pause : pauses) {
      now += pause;
      if (counted.take(now)) {
        admitted.add(now);
      }
    }
    assertThat(mostIn(SECOND, admitted)).isLessThanOrEqualTo(4);
  }
}
