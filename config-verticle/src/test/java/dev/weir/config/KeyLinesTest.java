package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeyLinesTest {

  @Test
  void linesAreReadWithTheirNumbersAndEmptyOnesPassedOver() {
    List<KeyLine> lines =
        parse(
            """
            {"key":"acme","tier":"gold"}

            {"tier":"free","key":"Ünïcode {key}:%","limit":5,"window":"1m","expires_in":"30s"}\r
            """);
    assertThat(lines).extracting(KeyLine::number).containsExactly(1, 3);
    assertThat(lines.get(0)).isEqualTo(new KeyLine(1, "acme", KeySetting.ofPlan("gold")));
    assertThat(lines.get(1).key()).isEqualTo("Ünïcode {key}:%");
    assertThat(lines.get(1).setting().override().orElseThrow().endMillis()).isEqualTo(31_000);
  }

  @Test
  void everyLineThatIsWrongIsToldWithItsNumber() {
    assertRefused(
        """
        {"key":"acme","tier":"gold"}
        {"key":"acme"}
        {"tier":"gold"}
        {"key":7,"tier":"gold"}
        {"key":"","tier":"gold"}
        {"key":"a","tier":"gold","limit":-1,"burst":2}
        [1]
        {"key":"a"
        """,
        "line 2: must have tier, regions, or numbers: limit, window, or rate, period, capacity",
        "line 3: key: must be text",
        "line 4: key: must be text",
        "line 5: key: must not be empty",
        "line 6: limit: must be a whole number from 0 to 1000000000000, was -1",
        "line 6: burst: is unknown; known: tier, name, limit, window, rate, period, capacity,"
            + " expires_in, regions",
        "line 7: must be a JSON object",
        "line 8: must be a JSON object");
    assertRefused("", "has no line");
    assertThatThrownBy(() -> KeyLines.parse(new byte[] {'{', (byte) 0xff}, 0))
        .hasMessage("is not UTF-8");
  }

  @Test
  void ofVeryManyWrongLinesTheFirstHundredAreTold() {
    String text = IntStream.range(0, 1000).mapToObj(i -> "x").collect(Collectors.joining("\n"));
    assertThatThrownBy(() -> parse(text))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> assertThat(e.errors()).hasSize(101).last().isEqualTo("and 900 more"));
  }

  private static List<KeyLine> parse(String text) {
    return KeyLines.parse(text.getBytes(StandardCharsets.UTF_8), 1000);
  }

  private static void assertRefused(String text, String... errors) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(400);
              assertThat(e.errors()).containsExactly(errors);
            });
  }
}
