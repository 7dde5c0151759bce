package dev.weir.client;

import static dev.weir.client.Decisions.allowed;
import static dev.weir.client.Decisions.denied;
import static dev.weir.client.Decisions.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Decision.Denied;
import io.vertx.core.json.JsonObject;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class DecisionJsonTest {

  private static final LimitStatus GOLD = status("default", 1000, 10, 981, 190);

  @Provide
  Arbitrary<Decision> decisions() {
    return Decisions.any();
  }

  @Test
  void anAllowedRequestReadsAsDocumented() {
    assertThat(text(allowed("acme", GOLD)))
        .isEqualTo(
            "{\"allowed\":true,\"key\":\"acme\",\"plan\":\"gold\",\"limit\":1000,\"remaining\":981,"
                + "\"retry_after\":0,\"reset_after\":0.19,\"stale\":0.012,\"degraded\":false}");
  }

  @Test
  void aDenialIsAProblemWithTheSameMembersAndAReason() {
    assertThat(problem(denied(900, status("default", 10, 10, 0, 9_001))))
        .isEqualTo(
            "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                + "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\","
                + "\"status\":429,\"violated-policies\":[\"default\"],\"allowed\":false,"
                + "\"key\":\"acme\",\"plan\":\"gold\",\"limit\":10,\"remaining\":0,"
                + "\"retry_after\":0.9,\"reset_after\":9.001,\"stale\":0.012,\"degraded\":false,"
                + "\"reason\":\"limit\"}");
  }

  @Test
  void aRefusalSinceTheStoreIsAwayIsAProblemOfItsOwn() {
    Denied refused = Decisions.refused(status("default", 10, 10, 4, 9_001));

    assertThat(DecisionJson.status(refused, 403)).isEqualTo(503);
    assertThat(problem(refused))
        .isEqualTo(
            "{\"type\":"
                + "\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                + "\"title\":\"Request cannot be satisfied due to temporary server capacity"
                + " constraints\","
                + "\"status\":503,\"violated-policies\":[\"default\"],\"allowed\":false,"
                + "\"key\":\"acme\",\"plan\":\"gold\",\"limit\":10,\"remaining\":4,"
                + "\"retry_after\":1,\"reset_after\":9.001,\"stale\":0.012,\"degraded\":true,"
                + "\"reason\":\"store_away\"}");
  }

  @Test
  void aDenialNamesEveryLimitThatIsUsedUp() {
    Decision decision =
        denied(
            900,
            status("month", 10, 10, 3, 1),
            status("burst", 5, 1, 2, 1),
            status("search", 5, 1, 0, 1));

    assertThat(new JsonObject(problem(decision)).getJsonArray("violated-policies"))
        .containsExactly("month", "search");
  }

  @Test
  void aRequestThatNeverFitsHasNoTimeToWait() {
    String problem = problem(denied(Denied.NEVER, GOLD));

    assertThat(problem)
        .contains("\"retry_after\":null")
        .contains("\"reason\":\"cost_exceeds_limit\"");
  }

  @Test
  void timesArePlainDecimalsToTheMillisecond() {
    assertThat(resetAfter(0)).isEqualTo("0");
    assertThat(resetAfter(1)).isEqualTo("0.001");
    assertThat(resetAfter(20)).isEqualTo("0.02");
    assertThat(resetAfter(999)).isEqualTo("0.999");
    assertThat(resetAfter(1_000)).isEqualTo("1");
    assertThat(resetAfter(1_100)).isEqualTo("1.1");
    assertThat(resetAfter(31_557_600_000_001L)).isEqualTo("31557600000.001");
    assertThat(resetAfter(Long.MAX_VALUE)).isEqualTo("9223372036854775.807");
  }

  @Test
  void aKeyCannotEndItsString() {
    Decision decision = allowed("\",\\\u0000\n\u001f🙂ü", GOLD);

    assertThat(text(decision)).contains("\"key\":\"\\\",\\\\\\u0000\\u000a\\u001f🙂ü\"");
  }

  @Property
  void theTextAndTheObjectSayTheSame(@ForAll("decisions") Decision decision) {
    JsonObject object = DecisionJson.toJson(decision);

    assertThat(text(decision)).satisfies(t -> assertThat(new JsonObject(t)).isEqualTo(object));
    assertThat(new JsonObject(object.encode())).isEqualTo(new JsonObject(text(decision)));
    if (!decision.allowed()) {
      JsonObject problem = new JsonObject(problem(decision));
      assertThat(problem.getMap()).containsAllEntriesOf(new JsonObject(text(decision)).getMap());
    }
  }

  private static String resetAfter(long millis) {
    Decision decision = allowed("k", status("default", 1, 1, 1, millis));
    String text = text(decision);
    String start = "\"reset_after\":";
    int from = text.indexOf(start) + start.length();
    String value = text.substring(from, text.indexOf(',', from));
    assertThat(DecisionJson.toJson(decision).encode()).contains(start + value + ",");
    return value;
  }

  private static String text(Decision decision) {
    StringBuilder out = new StringBuilder();
    DecisionJson.append(out, decision);
    return out.toString();
  }

  private static String problem(Decision decision) {
    StringBuilder out = new StringBuilder();
    Denied denied = (Denied) decision;
    DecisionJson.appendProblem(out, denied, DecisionJson.status(denied, 429));
    return out.toString();
  }
}
