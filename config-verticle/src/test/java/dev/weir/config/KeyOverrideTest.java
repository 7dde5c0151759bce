package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyOverrideTest {

  private static final String BUCKET = "rate: 10, period: 1m, capacity: 100";
  private static final String SLIDING = "algorithm: sliding_window, limit: 30, window: 1m";
  private static final String FIXED = "algorithm: fixed_window, limit: 30, window: 1h";
  private static final String MONTH =
      "algorithm: fixed_window, limit: 30, window: month, zone: UTC";
  private static final String LOG = "algorithm: sliding_log, limit: 30, window: 1m";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        BUCKET + " | rate: 20 | rate: 20, period: 1m, capacity: 100",
        BUCKET + " | capacity: 500 | rate: 10, period: 1m, capacity: 500",
        BUCKET + " | 'rate: 2, period: 1s, capacity: 3' | rate: 2, period: 1s, capacity: 3",
        BUCKET + " | 'limit: 50, window: 10s' | rate: 50, period: 10s, capacity: 50",
        BUCKET + " | limit: 500 | rate: 50, period: 1m, capacity: 500",
        BUCKET + " | window: 10s | rate: 100, period: 10s, capacity: 100",
        BUCKET + " | 'limit: 0, window: 10s' | rate: 10, period: 1m, capacity: 0",
        SLIDING + " | limit: 5 | algorithm: sliding_window, limit: 5, window: 1m",
        SLIDING + " | 'limit: 5, window: 2s' | algorithm: sliding_window, limit: 5, window: 2s",
        SLIDING + " | window: 2s | algorithm: sliding_window, limit: 30, window: 2s",
        SLIDING + " | capacity: 5 | algorithm: sliding_window, limit: 5, window: 1m",
        SLIDING + " | 'rate: 2, capacity: 8' | algorithm: sliding_window, limit: 8, window: 4s",
        SLIDING + " | 'rate: 3' | algorithm: sliding_window, limit: 30, window: 10s",
        SLIDING + " | 'rate: 2, capacity: 0' | algorithm: sliding_window, limit: 0, window: 1m",
        FIXED + " | limit: 5 | algorithm: fixed_window, limit: 5, window: 1h",
        MONTH + " | limit: 5 | algorithm: fixed_window, limit: 5, window: month, zone: UTC",
        MONTH + " | 'limit: 5, window: 1s' | algorithm: fixed_window, limit: 5, window: 1s",
        LOG + " | 'limit: 5, window: 1s' | algorithm: sliding_log, limit: 5, window: 1s"
      })
  void numbersOfEitherShapeFitALimitOfEveryAlgorithm(
      String planned, String numbers, String expected) {
    assertThat(override(numbers).appliedTo(plan(planned))).isEqualTo(plan(expected));
  }

  @Property
  void aBucketsNumbersOnAWindowLetAsMuchThroughInTheLongRun(
      @ForAll @LongRange(min = 100, max = 1_000_000) long rate,
      @ForAll @LongRange(min = 1_000, max = 1_000_000) long capacity) {
    KeyOverride override = override("rate: " + rate + ", period: 1h, capacity: " + capacity);
    SlidingWindow window =
        (SlidingWindow) override.appliedTo(plan(SLIDING)).limits().get(0).algorithm();
    double perHour = window.limit() * 3.6e6 / window.window().toMillis();
    assertThat(perHour).isCloseTo((double) rate, within(rate * 0.01));
  }

  @Test
  void itIsForTheLimitThatItNames() {
    Plan metered =
        plan("limits: [{name: a, rate: 1, strict: true}, {name: b, endpoints: [x], rate: 2}]");
    Plan expected =
        plan("limits: [{name: a, rate: 1, strict: true}, {name: b, endpoints: [x], rate: 9}]");
    assertThat(override("name: b, rate: 9, capacity: 2").appliedTo(metered))
        .isEqualTo(
            plan(
                "limits: [{name: a, rate: 1, strict: true},"
                    + " {name: b, endpoints: [x], rate: 9, capacity: 2}]"))
        .isNotEqualTo(expected);
  }

  @Test
  void itRestsWhereThereIsNoSuchLimitOrOneThatCannotHaveItsNumbers() {
    Plan metered = plan("limits: [{name: a, rate: 1}, {name: b, rate: 2}]");
    assertThat(override("rate: 9").appliedTo(metered)).isSameAs(metered);
    assertThat(override("name: c, rate: 9").appliedTo(metered)).isSameAs(metered);
    Plan unlimited = Plan.unlimited("p");
    assertThat(override("rate: 9").appliedTo(unlimited)).isSameAs(unlimited);
    Plan slow = plan("rate: 1, period: 365d, capacity: 1000");
    assertThat(override("limit: 1").appliedTo(slow)).isSameAs(slow);
  }

  @Test
  void itIsRefusedWhereItWouldRest() {
    Plan metered = plan("limits: [{name: a, rate: 1}, {name: b, rate: 2}]");
    assertRefused(override("rate: 9"), metered, "name: must be one of a, b");
    assertRefused(override("name: c, rate: 9"), metered, "name: must be one of a, b, was 'c'");
    assertRefused(override("rate: 9"), Plan.unlimited("p"), "the plan 'p' is unlimited");
    assertRefused(
        override("rate: 2000000000"),
        plan(BUCKET.replace("1m", "1s")),
        "rate: must be from 1 a year to 1000000000 a second, was 2.0E9 per 1s");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | must have tier, regions, or numbers: limit, window, or rate, period, capacity",
        "tier: 5 | tier: must be text, was 5",
        "limit: -1 | limit: must be a whole number from 0 to 1000000000000, was -1",
        "capacity: 1.5 | capacity: must be a whole number from 0 to 1000000000000, was 1.5",
        "'window: 0s, limit: 1' | window: must be from 1ms to 3660d, was PT0S",
        "'limit: 1, rate: 2' | rate: cannot stand beside limit and window",
        "period: 1s | period: goes with a rate",
        "'rate: -1, period: 1s' | rate: must be from 1 a year to 1000000000 a second, was -1.0 per"
            + " 1s",
        "'limit: 1, expires_in: 0s' | expires_in: must be from 1ms to 3660d, was 0s",
        "'limit: 1, expires_in: 3661d' | expires_in: must be from 1ms to 3660d, was 3661d",
        "'limit: 1, expires_in: 30' | 'expires_in: must be a whole number with a unit like 500ms,"
            + " 1s, 1m, 1h or 1d, was ''30'''",
        "'tier: gold, expires_in: 30s' | 'expires_in: is for numbers, and there are none'",
        "name: a | 'name: is for numbers, and there are none'",
        "'limit: 1, burst: 2' | 'burst: is unknown; known: tier, name, limit, window, rate, period,"
            + " capacity, expires_in, regions'"
      })
  void whatCannotBeSetIsRefusedWithItsReason(String body, String reason) {
    assertThatThrownBy(() -> KeyFormat.parse(members(body), 0))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(400);
              assertThat(e.errors()).containsExactly(reason);
            });
  }

  @Test
  void itIsReadBackAsItWasWritten() {
    for (String body :
        List.of(
            "limit: 5, window: 1m, expires_in: 30s",
            "name: a, rate: 0.5, period: 1m, capacity: 3",
            "capacity: 0")) {
      KeyOverride override = KeyFormat.parse(members(body), 1_000).override().orElseThrow();
      assertThat(KeyFormat.read(KeyFormat.write(override))).isEqualTo(override);
    }
  }

  private static void assertRefused(KeyOverride override, Plan plan, String reason) {
    assertThatThrownBy(() -> override.check(plan, RegionWeights.NONE))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessage(reason);
  }

  private static KeyOverride override(String numbers) {
    return KeyFormat.parse(members(numbers), 0).override().orElseThrow();
  }

  private static Plan plan(String members) {
    return PlanFormat.parse("p", members(members));
  }

  private static Map<String, Object> members(String yaml) {
    String text = yaml.equals("{}") ? yaml : "{" + yaml + "}";
    Map<?, ?> read = (Map<?, ?>) YamlText.read(text);
    Map<String, Object> members = new LinkedHashMap<>();
    read.forEach((name, value) -> members.put((String) name, value));
    return members;
  }
}
