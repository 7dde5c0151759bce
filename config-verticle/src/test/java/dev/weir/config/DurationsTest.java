package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

  @ParameterizedTest
  @CsvSource({
    "500ms,PT0.5S",
    "1s,PT1S",
    "1m,PT1M",
    "1h,PT1H",
    "1d,PT24H",
    "0s,PT0S",
    "90m,PT90M",
    "316224000000ms,PT87840H"
  })
  void aWholeNumberAndAUnitIsADuration(String text, Duration duration) {
    assertThat(Durations.parse(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "1.5s",
        "-1s",
        "+1s",
        "s",
        "1 s",
        "1S",
        "1w",
        "1sec",
        "PT1S",
        "1s1m",
        "٣s",
        "100000000000d",
        "100000000000m",
        "100000000000000ms",
        "1s\n"
      })
  void anythingElseIsRefusedInOneLine(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("must be a whole number with a unit like 500ms, 1s")
        .hasMessageNotContaining("\n");
  }

  @ParameterizedTest
  @CsvSource({"60s,1m", "3600s,1h", "24h,1d", "1000ms,1s", "90s,90s", "0ms,0s", "1500ms,1500ms"})
  void durationsAreWrittenInTheLargestWholeUnit(String given, String written) {
    assertThat(Durations.format(Durations.parse(given))).isEqualTo(written);
  }

  @Property
  void whatIsWrittenReadsBack(@ForAll @LongRange(min = 0, max = 99_999_999_999_999L) long millis) {
    Duration duration = Duration.ofMillis(millis);
    assertThat(Durations.parse(Durations.format(duration))).isEqualTo(duration);
  }
}
