package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.weir.config.WindowPeriod.CalendarUnit;
import dev.weir.config.WindowPeriod.Every;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PlanFormatTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void aPlanOfOneLimitForAllIsWrittenInTheShortForm() {
    Plan plan = PlanFormat.parse("gold", Map.of("rate", 100, "capacity", 1000));
    assertThat(PlanFormat.format(plan))
        .containsExactly(
            entry("algorithm", "token_bucket"),
            entry("rate", 100L),
            entry("period", "1s"),
            entry("capacity", 1000L));
  }

  @Test
  void aNamedLimitIsWrittenInTheFullForm() {
    Plan plan =
        PlanFormat.parse(
            "p", Map.of("limits", List.of(Map.of("name", "burst", "rate", 0.5, "period", "90s"))));
    assertThat(PlanFormat.format(plan))
        .containsExactly(
            entry(
                "limits",
                List.of(
                    Map.of(
                        "name",
                        "burst",
                        "algorithm",
                        "token_bucket",
                        "rate",
                        0.5,
                        "period",
                        "90s",
                        "capacity",
                        1L))));
  }

  static List<Arguments> plansAsWritten() {
    return List.of(
        Arguments.of(
            Map.of("algorithm", "sliding_window", "limit", 30, "window", "1m", "strict", true),
            new Plan("p", List.of(strict(new SlidingWindow(30, MINUTE))))),
        Arguments.of(
            Map.of("algorithm", "fixed_window", "limit", 30, "window", "24h"),
            new Plan("p", List.of(of(new FixedWindow(30, new Every(Duration.ofDays(1))))))),
        Arguments.of(
            Map.of("algorithm", "fixed_window", "limit", 1e6, "window", "day"),
            new Plan("p", List.of(of(calendar(CalendarUnit.DAY, "UTC"))))),
        Arguments.of(
            Map.of(
                "limits",
                List.of(
                    Map.of(
                        "algorithm",
                        "fixed_window",
                        "limit",
                        1_000_000,
                        "window",
                        "month",
                        "zone",
                        "Europe/Berlin")),
                "shadow",
                true),
            new Plan(
                "p",
                List.of(of(calendar(CalendarUnit.MONTH, "Europe/Berlin"))),
                false,
                true,
                OnStoreFailure.DEGRADE)),
        Arguments.of(
            Map.of("algorithm", "sliding_log", "limit", 10, "window", "500ms", "shadow", true),
            new Plan(
                "p",
                List.of(of(new SlidingLog(10, Duration.ofMillis(500)))),
                false,
                true,
                OnStoreFailure.DEGRADE)),
        Arguments.of(
            Map.of(
                "algorithm",
                "sliding_log",
                "limit",
                10,
                "window",
                "1s",
                "on_store_failure",
                "closed"),
            new Plan(
                "p",
                List.of(of(new SlidingLog(10, Duration.ofSeconds(1)))),
                false,
                false,
                OnStoreFailure.CLOSED)),
        Arguments.of(
            Map.of("rate", 10, "on_store_failure", "degrade"),
            new Plan("p", List.of(of(new TokenBucket(10, Duration.ofSeconds(1), 10))))),
        Arguments.of(
            Map.of("rate", 10, "strict", true, "shadow", false, "unlimited", false),
            new Plan("p", List.of(strict(new TokenBucket(10, Duration.ofSeconds(1), 10))))),
        Arguments.of(Map.of("unlimited", true), Plan.unlimited("p")));
  }

  @ParameterizedTest
  @MethodSource("plansAsWritten")
  void everyMemberIsReadForWhatItIs(Map<String, ?> written, Plan meant) {
    assertThat(PlanFormat.parse("p", written)).isEqualTo(meant);
  }

  @Test
  void aCalendarWindowIsWrittenWithItsZone() {
    assertThat(PlanFormat.format(of(calendar(CalendarUnit.YEAR, "UTC"))))
        .containsExactly(
            entry("name", "default"),
            entry("algorithm", "fixed_window"),
            entry("limit", 1_000_000L),
            entry("window", "year"),
            entry("zone", "UTC"));
  }

  @Test
  void anUnlimitedPlanIsWrittenAsThatAlone() {
    assertThat(PlanFormat.format(Plan.unlimited("p"))).containsExactly(entry("unlimited", true));
  }

  @Test
  void whatHoldsWhileTheStoreIsAwayIsWrittenUnlessItIsUsual() {
    assertThat(
            PlanFormat.format(PlanFormat.parse("p", Map.of("rate", 1, "on_store_failure", "open"))))
        .containsEntry("on_store_failure", "open");
    assertThat(
            PlanFormat.format(
                PlanFormat.parse("p", Map.of("rate", 1, "on_store_failure", "degrade"))))
        .doesNotContainKey("on_store_failure");
  }

  private static Limit of(Algorithm algorithm) {
    return new Limit(Limit.DEFAULT_NAME, Set.of(), algorithm);
  }

  private static Limit strict(Algorithm algorithm) {
    return new Limit(Limit.DEFAULT_NAME, Set.of(), algorithm, true);
  }

  private static FixedWindow calendar(CalendarUnit unit, String zone) {
    return new FixedWindow(1_000_000, new WindowPeriod.Calendar(unit, ZoneId.of(zone)));
  }

  @Test
  void pathsOfABodyBeginInTheBody() {
    assertThatThrownBy(
            () -> PlanFormat.parse("p\n", Map.of("rate", "x", "limit", 5, "period", "1.5s")))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e ->
                assertThat(e.errors())
                    .containsExactlyInAnyOrder(
                        "plan: a name must not have control characters or half a surrogate pair",
                        "rate: must be a number, was 'x'",
                        "period: must be a whole number with a unit like 500ms, 1s, 1m, 1h or 1d,"
                            + " was '1.5s'",
                        "limit: is unknown; known: limits, shadow, on_store_failure, unlimited,"
                            + " regions, strict, shards, algorithm; of a token_bucket: rate, period,"
                            + " capacity"));
  }

  @Test
  void rateAndCapacityAreBothToldIfBothAreWrong() {
    assertThatThrownBy(() -> PlanFormat.parse("p", Map.of("rate", -1, "capacity", 0.5)))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class, e -> assertThat(e.errors()).hasSize(2));
  }

  // Edge cases of so many arbitraries together take longer than all the tries.
  @Test
  void aRateThatNoPeriodMakesRightIsToldBesideTheWrongPeriod() {
    Map<String, ?> body = Map.of("rate", -1, "period", "1x", "capacity", 5);
    assertThatThrownBy(() -> PlanFormat.parse("p", body))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e ->
                assertThat(e.errors())
                    .hasSize(2)
                    .anyMatch(error -> error.startsWith("period: "))
                    .contains("rate: must be above 0, was -1"));
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  void aPlanReadsBackFromItsJson(@ForAll("plans") Plan plan) {
    String json = new JsonObject(PlanFormat.format(plan)).encode();
    assertThat(PlanFormat.parse(plan.name(), new JsonObject(json).getMap())).isEqualTo(plan);
  }

  @Provide
  static Arbitrary<Plan> plans() {
    Arbitrary<Algorithm> buckets =
        Combinators.combine(
                Arbitraries.oneOf(
                    Arbitraries.doubles().between(0.001, 1e6).ofScale(9),
                    Arbitraries.longs().between(1, 1_000_000).map(Long::doubleValue)),
                Arbitraries.longs().between(1, 86_400_000).map(Duration::ofMillis),
                Arbitraries.longs().between(0, Algorithm.MAX_QUOTA))
            .filter((rate, period, capacity) -> rate / (period.toMillis() / 1e3) < 1e9)
            .filter((rate, period, capacity) -> rate / (period.toMillis() / 1e3) > 1e-7)
            .as(TokenBucket::new);
    Arbitrary<Long> numbers = Arbitraries.longs().between(0, Algorithm.MAX_QUOTA);
    Arbitrary<Duration> windows =
        Arbitraries.longs().between(1, Duration.ofDays(3660).toMillis()).map(Duration::ofMillis);
    Arbitrary<WindowPeriod> calendars =
        Combinators.combine(
                Arbitraries.of(CalendarUnit.class),
                Arbitraries.of("UTC", "Z", "Europe/Berlin", "Pacific/Apia", "+05:45", "UTC+3"))
            .as((unit, zone) -> new WindowPeriod.Calendar(unit, ZoneId.of(zone)));
    Arbitrary<Algorithm> algorithms =
        Arbitraries.oneOf(
            buckets,
            Combinators.combine(numbers, windows).as(SlidingWindow::new),
            Combinators.combine(numbers, windows).as(SlidingLog::new),
            Combinators.combine(numbers, windows)
                .as((limit, window) -> new FixedWindow(limit, new Every(window))),
            Combinators.combine(numbers, calendars).as(FixedWindow::new));
    Arbitrary<Set<String>> endpoints =
        Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(9).set().ofMaxSize(3);
    Arbitrary<String> names =
        Arbitraries.oneOf(
            Arbitraries.just(Limit.DEFAULT_NAME),
            Arbitraries.strings()
                .withCharRange('a', 'z')
                .withChars("_.-")
                .ofMinLength(1)
                .ofMaxLength(9));
    Arbitrary<List<Limit>> limits =
        Combinators.combine(names, endpoints, algorithms, Arbitraries.of(true, false))
            .as(Limit::new)
            .list()
            .ofMinSize(1)
            .ofMaxSize(4)
            .uniqueElements(Limit::name);
    Arbitrary<String> planNames =
        Arbitraries.strings().alpha().withChars("é/ .😀{").ofMinLength(1).ofMaxLength(20);
    return Combinators.combine(
            planNames.filter(name -> Names.faultOfName(name).isEmpty()),
            limits,
            Arbitraries.integers().between(0, 5),
            Arbitraries.of(OnStoreFailure.class))
        .as(
            (name, of, kind, onStoreFailure) ->
                kind == 0
                    ? Plan.unlimited(name)
                    : new Plan(name, of, false, kind == 1, onStoreFailure));
  }

  @Test
  void aLimitThatIsDividedIsWrittenWithItsShards() {
    Plan plan = PlanFormat.parse("p", Map.of("rate", 10, "capacity", 10, "shards", 3));
    assertThat(plan.shards()).isEqualTo(3);
    assertThat(PlanFormat.format(plan)).containsEntry("shards", 3);
    assertThat(PlanFormat.parse("p", PlanFormat.format(plan))).isEqualTo(plan);
    assertThat(PlanFormat.format(PlanFormat.parse("p", Map.of("rate", 10, "shards", 1))))
        .doesNotContainKey("shards");
  }

  static List<Arguments> shardsThatAreRefused() {
    Map<String, Object> two = Map.of("name", "two", "rate", 10, "shards", 2);
    Map<String, Object> one = Map.of("name", "one", "rate", 10);
    return List.of(
        Arguments.of(
            Map.of("rate", 10, "shards", 0), "shards: must be a whole number from 1 to 64, was 0"),
        Arguments.of(
            Map.of("rate", 10, "shards", 65),
            "shards: must be a whole number from 1 to 64, was 65"),
        Arguments.of(
            Map.of("rate", 10, "capacity", 7, "shards", 8),
            "shards: must leave each of them a permit, and one a year, was 8"),
        Arguments.of(
            Map.of("rate", 1, "period", "365d", "capacity", 9, "shards", 8),
            "shards: must leave each of them a permit, and one a year, was 8"),
        Arguments.of(
            Map.of("algorithm", "sliding_log", "limit", 10, "window", "1m", "shards", 2),
            "shards: a sliding_log cannot be divided"),
        Arguments.of(
            Map.of("limits", List.of(one, two)),
            "limits[1].shards: must be the same for all limits of a plan, was 2 beside 1"));
  }

  @ParameterizedTest
  @MethodSource
  void shardsThatAreRefused(Map<String, ?> body, String error) {
    assertThatThrownBy(() -> PlanFormat.parse("p", body))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class, e -> assertThat(e.errors()).containsExactly(error));
  }
}
