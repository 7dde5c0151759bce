package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

final class AccountingWindowTest {
  private final AccountingWindow window = AccountingWindow.of(Duration.ofMinutes(1));

  @Property
  void jitterIsLessThanAWindow(@ForAll String key) {
    assertThat(window.jitterMicros(key)).isBetween(0L, window.micros() - 1);
  }

  @Property
  void aWindowLastsItsLength(
      @ForAll String key, @ForAll @LongRange(min = 0, max = 1L << 52) long storeMicros) {
    long index = window.index(key, storeMicros);
    assertThat(window.index(key, storeMicros + window.micros())).isEqualTo(index + 1);
    long begin = index * window.micros() - window.jitterMicros(key);
    assertThat(storeMicros).isBetween(begin, begin + window.micros() - 1);
  }

  @Example
  void neighbouringKeysDoNotRollTogether() {
    long firstHalf =
        IntStream.range(0, 1000)
            .filter(i -> window.jitterMicros("user" + i) < window.micros() / 2)
            .count();
    assertThat(firstHalf).isBetween(400L, 600L);
  }

  @Example
  void jitterIsTheSameInEveryProcess() {
    assertThat(window.jitterMicros("acme")).isEqualTo(9_014_922);
  }

  @Example
  void aCounterLivesTwoWindows() {
    assertThat(window.counterMillis()).isEqualTo(120_000);
    assertThat(new AccountingWindow(1001).counterMillis()).isEqualTo(3);
  }

  @Example
  void aWindowOfLessThanAMillisecondIsRefused() {
    assertThatThrownBy(() -> new AccountingWindow(999))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("999");
  }
}
