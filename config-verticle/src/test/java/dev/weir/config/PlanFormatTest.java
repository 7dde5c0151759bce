package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class PlanFormatTest {

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
                        "limit: is unknown; known: limits, or algorithm, rate, period, capacity"));
  }

  @Test
  void rateAndCapacityAreBothToldIfBothAreWrong() {
    assertThatThrownBy(() -> PlanFormat.parse("p", Map.of("rate", -1, "capacity", 0.5)))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class, e -> assertThat(e.errors()).hasSize(2));
  }

  @Property
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
        Combinators.combine(names, endpoints, buckets)
            .as(Limit::new)
            .list()
            .ofMinSize(1)
            .ofMaxSize(4)
            .uniqueElements(Limit::name);
    Arbitrary<String> planNames =
        Arbitraries.strings().alpha().withChars("é/ .😀{").ofMinLength(1).ofMaxLength(20);
    return Combinators.combine(planNames.filter(name -> Names.faultOfName(name).isEmpty()), limits)
        .as(Plan::new);
  }
}
