package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.ApiContract.Answered;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.OutputUnit;
import io.vertx.openapi.contract.OpenAPIVersion;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApiContractTest {

  private static final URI CHECK = URI.create("http://node/v1/check?key=acme");
  private static final String ALLOWED =
      """
      {"allowed":true,"key":"acme","plan":"gold","limit":10,"remaining":7,"retry_after":0,
       "reset_after":0.3,"stale":0.012,"degraded":false}""";
  private static final String LIMITS =
      """
      {"key":"acme","plan":"gold",%1$s,"remaining":7,"reset_after":0.1,"stale":0,"degraded":false,
       "limits":[{%1$s,"remaining":7,"reset_after":0.1}]}""";
  private static final String BUCKET =
      "\"name\":\"default\",\"algorithm\":\"token_bucket\",\"rate\":1.5,\"period\":\"1s\",\"capacity\":9";

  @Test
  void theDocumentIsOpenApi() {
    Vertx vertx = Vertx.vertx();
    try {
      JsonObject document = new JsonObject(ApiSchemas.yaml());
      OpenAPIVersion version = OpenAPIVersion.fromContract(document);
      OutputUnit result =
          version
              .getRepository(vertx, "app://")
              .compose(schemas -> version.validateContract(vertx, schemas, document))
              .toCompletionStage()
              .toCompletableFuture()
              .join();
      assertThat(result.getValid()).as(result.toString()).isTrue();
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  @Test
  void everyExampleFollowsItsSchema() {
    ApiSchemas schemas = ApiSchemas.load();
    assertThat(schemas.examples())
        .hasSizeGreaterThan(10)
        .allSatisfy(
            example ->
                assertThat(schemas.faults(example.schema(), example.value()))
                    .as("%s", example.value())
                    .isEmpty());
  }

  @Test
  void aRightAnswerIsTaken() {
    assertThatCode(() -> check("GET", CHECK, "", allowed(ALLOWED))).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "{\"allowed\":",
        "\"allowed\":true -> \"allowed\":false",
        "\"degraded\":false -> \"degraded\":\"no\"",
        "\"stale\":0.012, -> ",
        "\"stale\":0.012 -> \"stale\":-1",
        "\"limit\":10 -> \"limit\":1.5",
        "\"limit\":10 -> \"limit\":10,\"more\":1",
      })
  void aWrongBodyIsFound(String change) {
    String[] fromTo = change.split(" -> ", -1);
    String body = fromTo.length == 1 ? change : ALLOWED.replace(fromTo[0], fromTo[1]);

    assertThat(body).isNotEqualTo(ALLOWED);
    assertThatThrownBy(() -> check("GET", CHECK, "", allowed(body)))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void wrongHeadersAreFound() {
    for (Map<String, List<String>> wrong :
        List.<Map<String, List<String>>>of(
            Map.of("ratelimit", List.of()),
            Map.of("ratelimit", List.of("default;r=1")),
            Map.of("x-ratelimit-limit", List.of("ten")),
            Map.of("x-ratelimit-limit", List.of("10", "10")),
            Map.of("x-ratelimit-more", List.of("1")),
            Map.of("content-type", List.of("text/plain")))) {
      Map<String, List<String>> headers = new HashMap<>(headers());
      headers.putAll(wrong);
      headers.values().removeIf(List::isEmpty);
      assertThatThrownBy(() -> check("GET", CHECK, "", new Answered(200, headers, ALLOWED)))
          .as("%s", wrong)
          .isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void aStatusThatTheOperationDoesNotHaveIsFound() {
    for (int status : List.of(201, 204, 404, 405, 413, 500, 503)) {
      assertThatThrownBy(() -> check("GET", CHECK, "", new Answered(status, headers(), ALLOWED)))
          .isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void whatWasAskedMustBeInTheDocumentToo() {
    for (String query : List.of("", "key=a&cost=x", "key=a&cost=-1", "key=", "key=a&b=c")) {
      URI uri = URI.create("http://node/v1/check?" + query);
      assertThatThrownBy(() -> check("GET", uri, "", allowed(ALLOWED)))
          .as(query)
          .isInstanceOf(AssertionError.class);
    }
    URI check = URI.create("http://node/v1/check");
    assertThatCode(() -> check("POST", check, "{\"key\":\"a\"}", allowed(ALLOWED)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> check("POST", check, "{\"key\":\"a\",\"b\":1}", allowed(ALLOWED)))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void theLimitsOfAKeyHaveAllOfTheirNumbers() {
    URI uri = URI.create("http://node/limits/acme");
    Map<String, List<String>> json = Map.of("content-type", List.of("application/json"));
    String right = LIMITS.formatted(BUCKET);
    assertThatCode(
            () -> ApiContract.CONTROL_PLANE.check("GET", uri, "", new Answered(200, json, right)))
        .doesNotThrowAnyException();
    for (String wrong :
        List.of(
            LIMITS.formatted(BUCKET.replace(",\"period\":\"1s\"", "")),
            LIMITS.formatted(BUCKET.replace("token_bucket", "leaky")),
            LIMITS.formatted(BUCKET.replace("token_bucket", "sliding_log")),
            LIMITS.formatted(BUCKET + ",\"window\":\"1s\""),
            right.replace(",\"stale\":0", ""),
            right.replace("\"limits\":[{", "\"limits\":[{\"x\":1,"),
            right.replace("\"key\":\"acme\",", ""))) {
      assertThatThrownBy(
              () -> ApiContract.CONTROL_PLANE.check("GET", uri, "", new Answered(200, json, wrong)))
          .as(wrong)
          .isInstanceOf(AssertionError.class);
    }
  }

  private static void check(String method, URI uri, String body, Answered answer) {
    ApiContract.DATA_PLANE.check(method, uri, body, answer);
  }

  private static Answered allowed(String body) {
    return new Answered(200, headers(), body);
  }

  private static Map<String, List<String>> headers() {
    return Map.of(
        "content-type", List.of("application/json"),
        "cache-control", List.of("no-store"),
        "x-ratelimit-limit", List.of("10"),
        "x-ratelimit-remaining", List.of("7"),
        "x-ratelimit-reset", List.of("1700000003"),
        "x-ratelimit-stale", List.of("0.0"),
        "ratelimit-policy", List.of("\"default\";q=10;w=10"),
        "ratelimit", List.of("\"default\";r=7;t=3"));
  }
}
