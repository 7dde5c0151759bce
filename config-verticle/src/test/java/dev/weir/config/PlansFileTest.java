package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlansFileTest {

  @Test
  void theExampleHasAFreeAndAGoldPlan() {
    PlansFile example = PlansFile.example();

    assertThat(example.defaultPlan()).contains("free");
    assertThat(example.plans().get("free").limits())
        .containsExactly(limit("default", new TokenBucket(100, Duration.ofMinutes(1), 100)));
    assertThat(example.plans().get("gold").limits())
        .containsExactly(limit("default", new TokenBucket(100, Duration.ofSeconds(1), 1000)));
    assertThat(example.endpoints()).containsEntry("search", 10L).containsEntry("health", 0L);
    assertThat(example.keys()).containsEntry("acme", "gold");
  }

  @Test
  void aPlanInFullFormHasNamedLimitsForEndpoints() {
    PlansFile file =
        PlansFile.parse(
            """
            plans:
              metered:
                limits:
                  - {name: burst, rate: 50, period: 1s, capacity: 200}
                  - {name: search, endpoints: [search, 404], algorithm: token_bucket, rate: 0.5}
            """
                .replace("404", "'404'"));

    assertThat(file.plans().get("metered").limits())
        .containsExactly(
            limit("burst", new TokenBucket(50, Duration.ofSeconds(1), 200)),
            new Limit(
                "search", Set.of("search", "404"), new TokenBucket(0.5, Duration.ofSeconds(1), 1)));
  }

  @ParameterizedTest
  @CsvSource({"100,100", "0.5,1", "10.2,11", "1e3,1000", "1e9,1000000000"})
  void capacityIsOnePeriodsWorthIfItIsLeftOut(String rate, long capacity) {
    PlansFile file = PlansFile.parse("plans: {p: {rate: " + rate + "}}");
    assertThat(file.plans().get("p").limits().get(0).algorithm().quota()).isEqualTo(capacity);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "default_plan: null\n", "default_plan:\n", "default_plan: ~\n"})
  void noDefaultPlanRefusesUnknownKeys(String line) {
    assertThat(PlansFile.parse(line + "plans: {p: {rate: 1}}").defaultPlan()).isEmpty();
  }

  @Test
  void everyErrorIsNamedWithItsPath() {
    assertThat(
            errorsOf(
                """
                default_plan: none
                plans:
                  gold: {rate: ten, capacity: -1, burst: 3}
                  free: {period: 1}
                  other: {algorithm: leaky, limit: 10, window: 1m}
                  sliding: {algorithm: sliding_window, limit: -1, window: 5, zone: UTC}
                  fixed: {algorithm: fixed_window, limit: 1, window: week, zone: UTC}
                  month: {algorithm: fixed_window, window: month, zone: Mars/Olympus}
                  year: {algorithm: fixed_window, limit: 1, window: year, zone: 1}
                  log: {algorithm: sliding_log, rate: 10, window: 0s}
                  trial: {rate: 5, shadow: 1, strict: 'yes', on_store_failure: half}
                  free4all: {unlimited: true, shadow: true, rate: 3, on_store_failure: open}
                  members: {limits: [{rate: 1, shadow: true}], strict: true}
                  lists: {limits: [{name: a b, rate: 1}, {name: x, rate: 1}, {name: x, rate: 1}, 7]}
                  empty: {limits: []}
                  both: {limits: [{rate: 1}], rate: 1}
                  ends: {limits: [{endpoints: [], rate: 1}]}
                  fast: {rate: 1000000001}
                  slow: {rate: 1, period: 99999999999d}
                  nothing:
                endpoints: {search: 1.5, health: -1, upload: 1000000000001}
                keys: {acme: silver, other: 5, fine: gold}
                limits: {}
                """))
        .containsExactlyInAnyOrder(
            "default_plan: there is no plan 'none'",
            "plans.gold.rate: must be a number, was 'ten'",
            "plans.gold.capacity: must be a whole number from 0 to 1000000000000, was -1",
            "plans.gold.burst: is unknown; known: limits, shadow, on_store_failure, unlimited,"
                + " regions, strict, shards, algorithm; of a token_bucket: rate, period, capacity",
            "plans.free.rate: is missing",
            "plans.free.period: must be a whole number with a unit like 500ms, 1s, 1m, 1h or 1d,"
                + " was '1'",
            "plans.other.algorithm: must be one of token_bucket, sliding_window, fixed_window,"
                + " sliding_log, was 'leaky'",
            "plans.sliding.limit: must be a whole number from 0 to 1000000000000, was -1",
            "plans.sliding.window: must be a whole number with a unit like 500ms, 1s, 1m, 1h or"
                + " 1d, was '5'",
            "plans.sliding.zone: is unknown; known: limits, shadow, on_store_failure, unlimited,"
                + " regions, strict, shards, algorithm; of a sliding_window: limit, window",
            "plans.fixed.window: must be day, month, year, or a whole number with a unit like"
                + " 500ms, 1s, 1m, 1h or 1d, was 'week'",
            "plans.fixed.zone: is for a window of a day, month or year",
            "plans.month.limit: is missing",
            "plans.month.zone: must be a time zone like Europe/Berlin or UTC, was 'Mars/Olympus'",
            "plans.year.zone: must be a time zone like Europe/Berlin or UTC, was 1",
            "plans.log.limit: is missing",
            "plans.log.window: must be from 1ms to 3660d, was PT0S",
            "plans.log.rate: is unknown; known: limits, shadow, on_store_failure, unlimited,"
                + " regions, strict, shards, algorithm; of a sliding_log: limit, window",
            "plans.trial.shadow: must be true or false, was 1",
            "plans.trial.strict: must be true or false, was 'yes'",
            "plans.trial.on_store_failure: must be one of degrade, open, closed, was 'half'",
            "plans.free4all.shadow: an unlimited plan denies nothing",
            "plans.free4all.rate: is unknown; known: unlimited alone",
            "plans.free4all.on_store_failure: is unknown; known: unlimited alone",
            "plans.members.limits[0].shadow: is unknown; known: name, endpoints, strict,"
                + " shards, algorithm; of a token_bucket: rate, period, capacity",
            "plans.members.strict: is unknown; known: limits, shadow, on_store_failure, regions;"
                + " all else stands in the limits",
            "plans.lists.limits[0].name: must be 1 to 64 letters, digits, '_', '.' or '-', was"
                + " 'a b'",
            "plans.lists.limits[2].name: 'x' is the name of another limit",
            "plans.lists.limits[3]: must be a map, was 7",
            "plans.empty.limits: must be 1 to 16 limits, was 0",
            "plans.both.rate: is unknown; known: limits, shadow, on_store_failure, regions;"
                + " all else stands in the limits",
            "plans.ends.limits[0].endpoints: must be a list of at least one endpoint; leave it out"
                + " to limit all requests",
            "plans.fast.rate: must be from 1 a year to 1000000000 a second, was 1.000000001E9 per"
                + " 1s",
            "plans.slow.period: must be from 1ms to 3660d, was PT2399999999976H",
            "plans.nothing: must be a map, was null",
            "endpoints.search: must be a whole number from 0 to 1000000000000, was 1.5",
            "endpoints.health: must be a whole number from 0 to 1000000000000, was -1",
            "endpoints.upload: must be a whole number from 0 to 1000000000000, was 1000000000001",
            "keys.acme: there is no plan 'silver'",
            "keys.other: must be the name of a plan, was 5",
            "limits: is unknown; known: default_plan, plans, endpoints, keys, gateway, regions");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "010",
        "1_000",
        "0x10",
        "1:30",
        ".inf",
        "-.inf",
        ".nan",
        "yes",
        "true",
        "'5'",
        "[1]",
        "2026-01-01",
        "1e999",
        "+",
        "~",
        "99999999999999999999999999999999999999999999999"
      })
  void oddNumbersAreRefusedInsteadOfGuessed(String rate) {
    assertThat(errorsOf("plans: {p: {rate: " + rate + "}}"))
        .singleElement()
        .asString()
        .startsWith("plans.p.rate: must be ");
  }

  @Test
  void aTrillionIsANumberLikeAnyOther() {
    PlansFile file =
        PlansFile.parse(
            "plans: {p: {rate: 1000000, capacity: 1000000000000}}\nendpoints: {e: 1e12}");
    assertThat(file.plans().get("p").limits().get(0).algorithm().quota())
        .isEqualTo(1_000_000_000_000L);
    assertThat(file.endpoints()).containsEntry("e", 1_000_000_000_000L);
    assertThat(errorsOf("plans: {p: {rate: 1, capacity: 9223372036854775808}}"))
        .containsExactly(
            "plans.p.capacity: must be a whole number from 0 to 1000000000000, was"
                + " 9223372036854775808");
  }

  @Test
  void keysAreTextAsWritten() {
    PlansFile file =
        PlansFile.parse(
            "plans: {p: {rate: 1}}\nkeys: {007: p, 1.50: p, yes: p, null: p, 'a{b}:c%': p, ü: p}");
    assertThat(file.keys()).containsOnlyKeys("007", "1.50", "yes", "null", "a{b}:c%", "ü");
  }

  @Test
  void keysAreOneToOneThousandAndTwentyFourBytes() {
    String longest = "é".repeat(512);
    assertThat(PlansFile.parse("plans: {p: {rate: 1}}\nkeys: {" + longest + ": p}").keys())
        .containsKey(longest);
    assertThat(
            errorsOf("plans: {p: {rate: 1}}\nkeys: {a" + longest + ": p, '': p, \"\\ud800\": p}"))
        .satisfiesExactlyInAnyOrder(
            line -> assertThat(line).endsWith("...: must be at most 1024 bytes of UTF-8"),
            line -> assertThat(line).isEqualTo("keys.: must not be empty"),
            line -> assertThat(line).isEqualTo("keys.?: is not well-formed Unicode"));
  }

  @Test
  void aNameGivenTwiceIsRefused() {
    assertThat(errorsOf("plans:\n  p: {rate: 1}\n  p: {rate: 2}\n"))
        .containsExactly("plans.p: is given twice, again in line 3");
  }

  @Test
  void aliasesOfMapsAreRefusedSoThatTheyCannotMultiply() {
    StringBuilder bomb = new StringBuilder("a0: &a0 {x: 1}\n");
    for (int i = 1; i < 40; i++) {
      bomb.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }
    assertThat(errorsOf(bomb.toString())).singleElement().asString().startsWith("is not YAML: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"plans: !custom {}", "plans: !!set {a}"})
  void tagsAreRefused(String yaml) {
    assertThat(errorsOf(yaml)).singleElement().asString().startsWith("plans: has the tag ");
  }

  @Test
  void aTagOfAJavaTypeMakesNoObject() {
    assertThat(errorsOf("plans: !!java.net.URL [x]"))
        .singleElement()
        .asString()
        .contains("is not YAML: Global tag is not allowed");
  }

  @Test
  void aSyntaxErrorHasItsLineAndColumn() {
    assertThat(errorsOf("plans:\n  p: {rate: 1\nkeys: [}"))
        .singleElement()
        .asString()
        .matches("line \\d+, column \\d+: is not YAML: .+");
  }

  @ParameterizedTest
  @ValueSource(strings = {"plans: \"\\u", "plans: \"\\x", "plans: \"\\U0001"})
  void aFileThatEndsWithinAnEscapeIsRefused(String yaml) {
    assertThat(errorsOf(yaml)).singleElement().asString().contains("is not YAML: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# only a comment", "---", "null", "[]", "text", "a: 1\n---\nb: 2"})
  void aFileThatIsNoMapIsRefused(String yaml) {
    assertThat(errorsOf(yaml)).isNotEmpty();
  }

  @Test
  void moreThanAHundredErrorsAreCounted() {
    StringBuilder yaml = new StringBuilder("keys:\n");
    for (int i = 0; i < 1000; i++) {
      yaml.append("  k").append(i).append(": p\n");
    }
    assertThat(errorsOf(yaml.toString())).hasSize(101).last().isEqualTo("and 900 more");
  }

  @Test
  void aFileIsReadAsUtf8(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("plans.yaml");
    Files.writeString(file, "\uFEFFplans: {p: {rate: 1}}\nkeys: {ключ: p}");
    assertThat(PlansFile.read(file).keys()).containsKey("ключ");

    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertThatThrownBy(() -> PlansFile.read(file)).hasMessage(file + " is not UTF-8");
    Path missing = folder.resolve("none.yaml");
    assertThatThrownBy(() -> PlansFile.read(missing)).hasMessage("there is no file " + missing);
    assertThatThrownBy(() -> PlansFile.read(folder)).isInstanceOf(ConfigRefusedException.class);
  }

  @Property(tries = 3000)
  void garbageIsRefusedAndNeverAnythingElse(@ForAll("garbage") String yaml) {
    try {
      PlansFile.parse(yaml);
    } catch (ConfigRefusedException e) {
      assertThat(e.code()).isEqualTo(400);
      assertThat(e.errors()).isNotEmpty().allMatch(line -> line.lines().count() == 1);
    }
  }

  @Provide
  Arbitrary<String> garbage() {
    Arbitrary<String> piece =
        Arbitraries.of(
            "plans",
            "keys",
            "endpoints",
            "default_plan",
            "rate",
            "period",
            "limits",
            ": ",
            ":",
            "{",
            "}",
            "[",
            "]",
            ", ",
            "\n",
            "\n  ",
            "- ",
            "? ",
            "&a ",
            "*a",
            "<<: ",
            "!!int ",
            "!!binary ",
            "!x ",
            "%YAML 1.2\n",
            "---\n",
            "...",
            "|\n",
            ">-\n",
            "'",
            "\"",
            "\\u",
            "\\xZZ",
            "\t",
            "#",
            "@",
            "`",
            "1",
            "010",
            "1e99999",
            ".nan",
            "~",
            "null",
            "yes",
            "=",
            "\u0000",
            "\uFEFF",
            "\uD800",
            "😀",
            "\u2028",
            "\u0085");
    return Arbitraries.oneOf(
        piece.list().ofMaxSize(25).map(pieces -> String.join("", pieces)),
        Arbitraries.strings().ofMaxLength(40));
  }

  private static List<String> errorsOf(String yaml) {
    ConfigRefusedException refused =
        catchThrowableOfType(ConfigRefusedException.class, () -> PlansFile.parse(yaml));
    return Optional.ofNullable(refused).map(ConfigRefusedException::errors).orElse(List.of());
  }

  private static Limit limit(String name, Algorithm algorithm) {
    return new Limit(name, Set.of(), algorithm);
  }
}
