package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CheckRequestJsonTest {

  @Provide
  Arbitrary<CheckRequest> requests() {
    return Combinators.combine(
            Decisions.texts(),
            Arbitraries.of("", "search"),
            Arbitraries.longs().between(CheckRequest.COST_OF_ENDPOINT, CheckRequest.MAX_COST),
            Arbitraries.of("", "gold"))
        .as(CheckRequest::new);
  }

  @Property
  void aCheckSurvivesTheWayThroughText(@ForAll("requests") CheckRequest request) {
    String text = CheckRequestJson.toJson(request).encode();

    assertThat(CheckRequestJson.fromJson(new JsonObject(text))).isEqualTo(request);
  }

  @Test
  void onlyTheKeyIsNeeded() {
    assertThat(parse("{'key':'acme'}")).isEqualTo(CheckRequest.of("acme"));
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "3,3",
    "2.0,2",
    "1e3,1000",
    "1000000000000,1000000000000",
    "1e12,1000000000000"
  })
  void aCostIsAWholeNumberHoweverItIsWritten(String written, long cost) {
    assertThat(parse("{'key':'a','cost':" + written + "}").cost()).isEqualTo(cost);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.5",
        "-1",
        "-0.1",
        "0.1",
        "1e-3",
        "1000000000001",
        "1e13",
        "9223372036854775808",
        "18446744073709551617",
        "1e300",
        "'3'",
        "null",
        "true",
        "[1]",
        "{}"
      })
  void anyOtherCostIsRefused(String written) {
    assertRefused("{'key':'a','cost':" + written + "}", "cost: must be a whole number from 0 to");
  }

  @Test
  void aCostTooLongToWriteOutIsRefusedWithoutWritingItOut() {
    CheckRequestMembers members = new CheckRequestMembers();

    assertThatThrownBy(() -> members.put("cost", new BigDecimal("1e2000000000")))
        .isInstanceOf(CheckRefusedException.class);
    assertThatThrownBy(() -> members.put("cost", new BigDecimal("1e-2000000000")))
        .isInstanceOf(CheckRefusedException.class);
    assertThatThrownBy(() -> members.put("cost", Double.NaN))
        .isInstanceOf(CheckRefusedException.class);
  }

  @Test
  void everyMistakeIsNamed() {
    assertRefused("{}", "key: is missing");
    assertRefused("{'key':''}", "key: must not be empty");
    assertRefused("{'key':null}", "key: must be a string, was null");
    assertRefused("{'key':7}", "key: must be a string, was 7");
    assertRefused("{'key':['a']}", "key: must be a string, was an array");
    assertRefused("{'key':{}}", "key: must be a string, was an object");
    assertRefused("{'key':'a','plan':''}", "plan: must not be empty");
    assertRefused("{'key':'a','endpoint':false}", "endpoint: must be a string, was a boolean");
    assertRefused("{'key':'a','__proto__':{}}", "__proto__: is not a member of a check");
    assertRefused("{'key':'a\\ud800'}", "key: is not well-formed Unicode");
    assertRefused("{'key':'a','plan':'\\udc00'}", "plan: is not well-formed Unicode");
    assertRefused("{'key':'" + "ü".repeat(513) + "'}", "key: must be at most 1024 bytes");
    assertRefused("{'key':'a','plan':'" + "x".repeat(1025) + "'}", "plan: must be at most 1024");
  }

  @Test
  void aMemberGivenTwiceIsRefused() {
    CheckRequestMembers members = new CheckRequestMembers();
    members.put("key", "a");
    members.put("cost", 1);

    assertThatThrownBy(() -> members.put("key", "b")).hasMessage("key: is given more than once");
    assertThatThrownBy(() -> members.put("cost", 1)).hasMessage("cost: is given more than once");
  }

  private static void assertRefused(String json, String reason) {
    assertThatThrownBy(() -> parse(json))
        .isInstanceOfSatisfying(
            CheckRefusedException.class, refused -> assertThat(refused.code()).isEqualTo(400))
        .hasMessageStartingWith(reason);
  }

  private static CheckRequest parse(String json) {
    return CheckRequestJson.fromJson(new JsonObject(json.replace('\'', '"')));
  }
}
