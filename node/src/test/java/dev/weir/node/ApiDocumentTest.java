package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ConfigRefusedException;
import dev.weir.config.KeyFormat;
import dev.weir.config.PlanFormat;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.OutputUnit;
import io.vertx.openapi.contract.MediaType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The document must not refuse what is understood: its reasons are not as good. */
class ApiDocumentTest {

  private static final ApiDocument API = ApiDocument.load();

  private static final Map<String, List<Object>> MEMBERS =
      Map.ofEntries(
          Map.entry(
              "algorithm",
              Arrays.asList(
                  "token_bucket", "sliding_window", "fixed_window", "sliding_log", "leaky", null)),
          Map.entry("rate", List.of(1, 0.5, 100.0, 1e9, 0, -1, "1")),
          Map.entry("period", List.of("1s", "1d", "500ms", "0s", "soon", 1)),
          Map.entry("capacity", List.of(0, 1000, 1e3, 1_000_000_000_000L, 1.5, -1)),
          Map.entry("limit", List.of(0, 1000, 1e3, 1_000_000_000_000L, 1.5, "x")),
          Map.entry("window", List.of("1m", "90s", "3660d", "day", "month", "year", "week")),
          Map.entry("zone", List.of("UTC", "Europe/Berlin", "+05:45", "Atlantis")),
          Map.entry("strict", List.of(true, false, "yes")),
          Map.entry("shadow", List.of(true, false, 1)),
          Map.entry("unlimited", List.of(true, false, "no")),
          Map.entry("name", List.of("default", "a.b_c-1", "x".repeat(64), "x y", "")),
          Map.entry("endpoints", List.of(List.of("search", "a b"), List.of("a", "a"), List.of())),
          Map.entry("tier", List.of("gold", "", 1)),
          Map.entry("expires_in", List.of("30s", "1ms", "forever")),
          Map.entry("burst", List.of(1)));

  @Provide
  Arbitrary<Map<String, Object>> members() {
    return Arbitraries.of(MEMBERS.keySet())
        .set()
        .ofMaxSize(5)
        .flatMap(
            names ->
                Arbitraries.of(0, 1, 2, 3, 4, 5)
                    .list()
                    .ofSize(names.size())
                    .map(picks -> pick(List.copyOf(names), picks)));
  }

  private static Map<String, Object> pick(List<String> names, List<Integer> picks) {
    JsonObject members = new JsonObject();
    for (int i = 0; i < names.size(); i++) {
      List<Object> values = MEMBERS.get(names.get(i));
      members.put(names.get(i), values.get(picks.get(i) % values.size()));
    }
    return members.getMap();
  }

  @Property(tries = 3000)
  void planBodiesThatAreUnderstoodAreInTheDocument(@ForAll("members") Map<String, Object> members) {
    assertDocumented("putPlan", members, body -> PlanFormat.parse("p", body));
  }

  @Property(tries = 2000)
  void limitsThatAreUnderstoodAreInTheDocument(
      @ForAll("members") Map<String, Object> one, @ForAll("members") Map<String, Object> other) {
    assertDocumented(
        "putPlan", Map.of("limits", List.of(one, other)), body -> PlanFormat.parse("p", body));
  }

  @Property(tries = 3000)
  void numbersOfAKeyThatAreUnderstoodAreInTheDocument(
      @ForAll("members") Map<String, Object> members) {
    assertDocumented("assign", members, body -> KeyFormat.parse(body, 0));
  }

  private static void assertDocumented(
      String operationId, Map<String, Object> body, Consumer<Map<String, Object>> parser) {
    try {
      parser.accept(body);
    } catch (ConfigRefusedException refused) {
      return;
    }
    MediaType json =
        API.controlPlane()
            .operation(operationId)
            .getRequestBody()
            .getContent()
            .get("application/json");
    OutputUnit result =
        API.controlPlane()
            .getSchemaRepository()
            .validator(json.getSchema())
            .validate(new JsonObject(body));
    assertThat(result.getValid()).as("%s: %s", body, result).isTrue();
  }
}
