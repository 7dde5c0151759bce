package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatewayTest {

  private static final String RULES =
      """
      plans: {p: {rate: 1}}
      endpoints: {search: 10, health: 0, report: 25, item: 1}
      gateway:
        rules:
          - "GET /health -> health"
          - "GET /search/** -> search"
          - "* /reports/*/export -> report"
          - "POST /items/* -> item"
          - "GET /caf%C3%A9/* -> search"
          - "DELETE /größe/** -> report"
          - "GET / -> item"
      """;

  private final ConfigSnapshot config =
      ConfigState.first(PlansFile.parse(RULES), "default", "me").snapshot();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "GET     | /health                     | health",
        "GET     | /health/                    | health",
        "HEAD    | /health                     | health",
        "get     | /health                     | health",
        "POST    | /health                     | none",
        "GET     | /healthy                    | none",
        "GET     | /Health                     | none",
        "GET     | /health/live                | none",
        "GET     | /search                     | search",
        "GET     | /search/                    | search",
        "GET     | /search/a/b/c               | search",
        "GET     | /search?q=/health           | search",
        "GET     | /other?/search/x            | none",
        "GET     | /reports/7/export           | report",
        "BREW    | /reports/7/export           | report",
        "GET     | /reports/export             | none",
        "GET     | /reports/7/8/export         | none",
        "POST    | /items/1                    | item",
        "POST    | /items/                     | none",
        "GET     | /caf%c3%a9/x                | search",
        "GET     | /cafÃ©/x                    | search",
        "DELETE  | /gr%C3%B6%C3%9Fe            | report",
        "GET     | /                           | item",
        "GET     | http://host/search/x        | search",
        "GET     | http://host:80              | item",
        "GET     | http://host?/search         | item",
        "OPTIONS | *                           | none",
        "GET     | search                      | search",
        "GET     | ''                          | item",
      })
  void theFirstRuleThatMatchesNamesTheEndpoint(String method, String target, String endpoint) {
    assertThat(config.endpointOf(method, target)).isEqualTo(endpoint == null ? "" : endpoint);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "//search/x",
        "/./search/x",
        "/%73earch/x",
        "/s%65arch",
        "/%2e/search",
        "/health/../search/x",
        "/health/%2e%2E/search/x",
        "/health/..%2fsearch",
        "/health/..%5Csearch",
        "/health\\..\\search",
        "/search/../health",
        "/search/x/..%2f..%2fhealth",
        "/search/x/..\\..\\health",
        "/search%2Fx",
        "/search;v=1/x",
        "/search;v=1",
        "/health/..;/search",
        "/health#/../../search",
        "/search#/../health",
        "/a//../search",
        "/search//../health",
        "/../../search",
      })
  void anOddPathCostsWhatItsDearestMeaningCosts(String target) {
    assertThat(config.weight(config.endpointOf("GET", target))).isGreaterThanOrEqualTo(10);
  }

  @Test
  void aPathTooLongToReadInEveryWayCostsWhatTheDearestRuleOfItsMethodCosts() {
    assertThat(config.endpointOf("GET", "/health" + "/..%2f".repeat(1000))).isEqualTo("report");
    assertThat(config.endpointOf("POST", "/" + ";".repeat(5000))).isEqualTo("report");
    assertThat(config.endpointOf("GET", "/search/" + "x".repeat(100_000))).isEqualTo("search");
  }

  @Test
  void amongEquallyDearMeaningsTheEarlierRuleWins() {
    Gateway gateway =
        PlansFile.parse(
                "plans: {p: {rate: 1}}\n"
                    + "gateway: {rules: ['GET /a/* -> first', 'GET /b/* -> second']}")
            .gateway();
    assertThat(gateway.endpointOf("GET", "/b/1/..%2f..%2fa%2f1", endpoint -> 1)).isEqualTo("first");
    assertThat(gateway.endpointOf("GET", "/a%2f1", endpoint -> 1)).isEqualTo("first");
  }

  @Test
  void withoutASectionTheKeyIsHeaderThenTokenThenAddress() {
    Gateway gateway = PlansFile.parse("plans: {p: {rate: 1}}\ngateway:").gateway();
    assertThat(gateway).isEqualTo(Gateway.DEFAULT);
    assertThat(gateway.keys())
        .containsExactly(
            new KeySource.Header("X-Api-Key"), new KeySource.Bearer(), new KeySource.Address());
    assertThat(gateway.endpointOf("GET", "/search", endpoint -> 1)).isEmpty();
  }

  @Test
  void theKeyOrderIsAsWritten() {
    assertThat(
            PlansFile.parse("plans: {p: {rate: 1}}\ngateway: {keys: [bearer, header X-User]}")
                .gateway()
                .keys())
        .containsExactly(new KeySource.Bearer(), new KeySource.Header("X-User"));
  }

  @Test
  void everyErrorIsNamedWithItsPath() {
    ConfigRefusedException refused =
        catchThrowableOfType(
            ConfigRefusedException.class,
            () ->
                PlansFile.parse(
                    """
                    plans: {p: {rate: 1}}
                    gateway:
                      keys: [address, cookie, header X Y, 7, bearer, bearer, header A, header a]
                      rules:
                        - GET /search
                        - "get /search -> search"
                        - "GET search -> search"
                        - "GET /a//b -> a"
                        - "GET /a/../b -> a"
                        - "GET /a;b -> a"
                        - "GET /a%2Fb -> a"
                        - "GET /a?b -> a"
                        - "GET /a* -> a"
                        - "GET /**/a -> a"
                        - "GET /%2a -> a"
                        - 7
                      routes: []
                    """));
    String plain =
        "a pattern is plain: no empty segment, no '.' or '..', no ';', '\\', '#', '?', %2F or %2A";
    String star = "'*' is a segment of its own, and '**' is the last one";
    String rule = "must be a rule such as 'GET /search/** -> search', was ";
    String key = "must be 'header' and its name, 'bearer' or 'address', was ";
    assertThat(refused.errors())
        .containsExactlyInAnyOrder(
            "gateway.keys[0]: must be the last: every request has an address",
            "gateway.keys[1]: " + key + "'cookie'",
            "gateway.keys[2]: " + key + "'header X Y'",
            "gateway.keys[3]: " + key + "7",
            "gateway.keys[5]: is given twice",
            "gateway.keys[7]: is given twice",
            "gateway.rules[0]: " + rule + "'GET /search'",
            "gateway.rules[1]: " + rule + "'get /search -> search'",
            "gateway.rules[2]: " + rule + "'GET search -> search'",
            "gateway.rules[3]: " + plain,
            "gateway.rules[4]: " + plain,
            "gateway.rules[5]: " + plain,
            "gateway.rules[6]: " + plain,
            "gateway.rules[7]: " + plain,
            "gateway.rules[8]: " + star,
            "gateway.rules[9]: " + star,
            "gateway.rules[10]: " + plain,
            "gateway.rules[11]: " + rule + "7",
            "gateway.routes: is unknown; known: keys, rules");
  }

  @Test
  void sectionsOfTheWrongKindAreRefused() {
    assertThat(errorsOf("gateway: 7")).containsExactly("gateway: must be a map, was 7");
    assertThat(errorsOf("gateway: {keys: []}"))
        .containsExactly("gateway.keys: must be a list of 1 to 8, was 0");
    assertThat(errorsOf("gateway: {rules: {}}"))
        .containsExactly("gateway.rules: must be a list of 0 to 1000, was a map");
  }

  @Test
  void itSurvivesTheWayThroughTheSharedDocument() {
    PlansFile file =
        PlansFile.parse(
            RULES.replace("gateway:\n", "gateway:\n  keys: [header X-User, bearer, address]\n"));
    ConfigDocument document = ConfigDocument.first(file, "default", "me");

    assertThat(ConfigDocument.parse(document.format())).isEqualTo(document);
    assertThat(document.putEndpoint("other", 3).gateway()).isEqualTo(file.gateway());
  }

  @Test
  void aLaterNodeBringsItOnlyWhereThereIsNone() {
    PlansFile without = PlansFile.parse("plans: {p: {rate: 1}}");
    PlansFile with = PlansFile.parse(RULES);
    PlansFile other = PlansFile.parse("plans: {p: {rate: 1}}\ngateway: {rules: ['GET /x -> x']}");

    ConfigDocument first = ConfigDocument.first(without, "default", "me");
    ConfigDocument second = first.adding(with, "default");
    assertThat(second.gateway()).isEqualTo(with.gateway());
    assertThat(second.changesSince(first)).contains("gateway with 7 rules");
    assertThat(second.adding(other, "default").gateway()).isEqualTo(with.gateway());
    assertThat(second.adding(without, "default")).isEqualTo(second);
  }

  private static List<String> errorsOf(String section) {
    return catchThrowableOfType(
            ConfigRefusedException.class,
            () -> PlansFile.parse("plans: {p: {rate: 1}}\n" + section))
        .errors();
  }
}
