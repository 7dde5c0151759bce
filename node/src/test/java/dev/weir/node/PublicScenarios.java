package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a caller sees of one node, whatever store it uses. Limits whose exact numbers matter refill
 * so slowly (one permit an hour) that the time a test takes does not show.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PublicScenarios {

  /**
   * A change is in force within one second by the contract; the rest is for a machine whose disk or
   * processors stand still meanwhile.
   */
  static final Duration IN_FORCE = Duration.ofSeconds(5);

  private RunningNode process;
  private NodeClient node;

  /** The node under test. */
  abstract RunningNode startNode();

  final NodeClient node() {
    return node;
  }

  @BeforeAll
  void start() {
    process = startNode();
    node = process.client();
  }

  @AfterAll
  void stop() {
    process.close();
  }

  /** Each differs from another in one character that some layer could fold or take for syntax. */
  static List<String> keysThatLookAlike() {
    return List.of(
        "ab",
        "a_b",
        "a/b",
        "a:b",
        "a{b",
        "a}b",
        "a{b}",
        "{a}b",
        "{}ab",
        "a%b",
        "a b",
        "a+b",
        "a.b",
        "aB",
        "Ab",
        "a\u0000b",
        "a\tb",
        "a\nb",
        "a\\b",
        "a\"b",
        "a?b",
        "a#b",
        "a&b",
        "a=b",
        "a;b",
        " ab",
        "ab ",
        "a%2Fb",
        "a%3Ab",
        "a%00b",
        "a%7Bb",
        "a%20b",
        "a\u00e9",
        "ae\u0301",
        "a\ufb01",
        "afi",
        "\u212b",
        "\u00c5",
        "A\u030a",
        "\ud83d\ude00",
        "\ud83d\ude01",
        "a::b",
        "a:",
        ":a");
  }

  @Test
  void keysThatLookAlikeNeverShareState() {
    bucket("alike", 1, "1h");
    for (String key : keysThatLookAlike()) {
      assertThat(node.check(key, "alike", 1).status()).as("first of <%s>", key).isEqualTo(200);
    }
    for (String key : keysThatLookAlike()) {
      assertThat(node.check(key, "alike", 1).status()).as("second of <%s>", key).isEqualTo(429);
    }
  }

  @ParameterizedTest
  @MethodSource("keysThatLookAlike")
  void keyIsTheSameInBodyQueryAndPath(String lookAlike) {
    // What a key has used counts under every plan; these keys are used by another test.
    String key = "way to " + lookAlike;
    bucket("ways", 3, "1h");
    node.assign(key, "ways");
    assertThat(node.check(key).remaining()).isEqualTo(2);
    Answer byQuery = node.get("/v1/check?key=" + NodeClient.encode(key));
    assertThat(byQuery.remaining()).isEqualTo(1);
    assertThat(byQuery.json().getString("key")).isEqualTo(key);
    assertThat(node.remaining(key)).isEqualTo(1);
    assertThat(node.adminDelete("/admin/limits/" + NodeClient.encode(key)).status()).isEqualTo(204);
  }

  @Test
  void capacityOneAdmitsOneOfAThousandParallelCalls() {
    bucket("single", 1, "1h");
    List<Answer> answers = Crowd.call(50, 20, call -> node.check("thousand", "single", 1));
    assertThat(answers).hasSize(1000).filteredOn(Answer::admitted).hasSize(1);
    assertThat(answers).noneMatch(Answer::degraded);
  }

  @Test
  void capacityOneAdmitsOneOfAThousandInABatch() {
    bucket("single-batch", 1, "1h");
    assertThat(admittedOf(node.batch(checks(1000, "thousand-batch", "single-batch")))).isEqualTo(1);
  }

  @Test
  void rateThreeCapacityOneAdmitsOneOfFiveAtOnce() {
    node.putPlan("three", "{\"rate\":3,\"period\":\"1s\",\"capacity\":1}");
    assertThat(admittedOf(node.batch(checks(5, "five", "three")))).isEqualTo(1);
  }

  @Test
  void sixtyParallelCallsAtALimitOfFiveAdmitExactlyFive() {
    bucket("five", 5, "1h");
    List<Answer> answers = Crowd.call(60, 1, call -> node.check("sixty", "five", 1));
    assertThat(answers).filteredOn(Answer::admitted).hasSize(5);
  }

  @Test
  void mixedCostsInParallelNeverExceedTheCapacity() {
    bucket("hundred", 100, "1h");
    List<Long> admitted =
        Crowd.call(
            40,
            5,
            call -> {
              long cost = call % 7;
              return node.check("mixed", "hundred", cost).admitted() ? cost : 0L;
            });
    long spent = admitted.stream().mapToLong(Long::longValue).sum();
    // Single permits are asked for to the end, so none is left over.
    assertThat(spent).isEqualTo(100);
  }

  @Test
  void raisingALimitKeepsWhatWasUsed() {
    bucket("raised", 100, "1h");
    node.assign("grower", "raised");
    assertThat(node.check(request("grower").put("cost", 60)).remaining()).isEqualTo(40);

    bucket("raised", 200, "1h");
    await().atMost(IN_FORCE).until(() -> node.remaining("grower") == 140);
    await().atMost(IN_FORCE).until(() -> node.check(peek("grower")).remaining() == 140);
    assertThat(node.check(request("grower").put("cost", 141)).status()).isEqualTo(429);
    assertThat(node.check(request("grower").put("cost", 140)).remaining()).isZero();
  }

  @Test
  void loweringALimitAndRaisingItAgainForgetsNothing() {
    bucket("lowered", 100, "1h");
    node.assign("shrinker", "lowered");
    assertThat(node.check(request("shrinker").put("cost", 60)).status()).isEqualTo(200);

    bucket("lowered", 50, "1h");
    await().atMost(IN_FORCE).until(() -> node.remaining("shrinker") == 0);
    assertThat(node.check("shrinker").status()).isEqualTo(429);

    bucket("lowered", 100, "1h");
    await().atMost(IN_FORCE).until(() -> node.remaining("shrinker") == 40);
  }

  @Test
  void aResetGivesAKeyAllOfItsLimitAgainAtOnceAndTouchesNoOther() {
    bucket("reset", 100, "1h");
    node.assign("a/b:{c}", "reset");
    assertThat(node.check(request("a/b:{c}").put("cost", 100)).status()).isEqualTo(200);
    assertThat(node.check("a/b:{c}").status()).isEqualTo(429);
    assertThat(node.check("other", "reset", 30).remaining()).isEqualTo(70);

    node.reset("a/b:{c}");

    assertThat(node.check(request("a/b:{c}").put("cost", 100)).status()).isEqualTo(200);
    assertThat(node.check("a/b:{c}").status()).isEqualTo(429);
    assertThat(node.check("other", "reset", 0).remaining()).isEqualTo(70);
  }

  @Test
  void anOverrideHoldsAtOnceAndKeepsWhatWasUsed() {
    bucket("own", 100, "1h");
    node.assign("owner", "own");
    assertThat(node.check(request("owner").put("cost", 100)).status()).isEqualTo(200);
    assertThat(node.check("owner").status()).isEqualTo(429);

    assertThat(node.adminPut("/admin/limits/owner", "{\"capacity\":500}").status()).isEqualTo(204);
    assertThat(node.check(peek("owner")).remaining()).isEqualTo(400);
    assertThat(node.check(request("owner").put("cost", 400)).status()).isEqualTo(200);

    assertThat(node.adminDelete("/admin/limits/owner").status()).isEqualTo(204);
    node.assign("owner", "own");
    assertThat(node.check("owner").status()).isEqualTo(429);
  }

  @Test
  void movingAKeyToAnotherPlanKeepsWhatItUsed() {
    bucket("small", 100, "1h");
    bucket("large", 1000, "1h");
    node.assign("mover", "small");
    assertThat(node.check(request("mover").put("cost", 30)).status()).isEqualTo(200);

    node.assign("mover", "large");
    await().atMost(IN_FORCE).until(() -> node.remaining("mover") == 970);
  }

  @Test
  void deniedCallSpendsNothing() {
    bucket("ten", 10, "1h");
    assertThat(node.check("frugal", "ten", 8).status()).isEqualTo(200);
    Answer denied = node.check("frugal", "ten", 5);
    assertThat(denied.status()).isEqualTo(429);
    assertThat(denied.remaining()).isEqualTo(2);
    assertThat(node.check("frugal", "ten", 2).status()).isEqualTo(200);
  }

  @Test
  void lessThanASecondLeftIsRetryAfterOne() {
    bucket("brisk", 1, "900ms");
    Answer denied = firstDenied("hasty", "brisk");
    assertThat(denied.json().getDouble("retry_after")).isPositive().isLessThanOrEqualTo(0.9);
    assertThat(denied.header("Retry-After")).isEqualTo("1");
  }

  @Test
  void waitingExactlyAsLongAsToldIsAdmitted() {
    bucket("patient", 1, "1500ms");
    for (int round = 0; round < 3; round++) {
      Answer denied = firstDenied("waiter", "patient");
      long millis = Math.round(denied.json().getDouble("retry_after") * 1000);
      assertThat(millis).isPositive();
      Answer again =
          CompletableFuture.supplyAsync(
                  () -> node.check("waiter", "patient", 1),
                  CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS))
              .join();
      assertThat(again.status()).as(again.body()).isEqualTo(200);
    }
  }

  @Test
  void peeksArePure() {
    bucket("peeked", 3, "1h");
    node.assign("peeper", "peeked");
    assertThat(node.check(request("peeper").put("cost", 2)).remaining()).isEqualTo(1);
    for (int i = 0; i < 20; i++) {
      Answer peek = node.check(peek("peeper"));
      assertThat(peek.status()).isEqualTo(200);
      assertThat(peek.remaining()).isEqualTo(1);
    }
    assertThat(node.remaining("peeper")).isEqualTo(1);
    assertThat(node.check("peeper").status()).isEqualTo(200);
    assertThat(node.check(peek("peeper")).status()).isEqualTo(200);
    assertThat(node.check("peeper").status()).isEqualTo(429);
  }

  @Test
  void costAboveTheCapacityIsRefusedForGood() {
    bucket("ten-at-most", 10, "1h");
    Answer refused = node.check("glutton", "ten-at-most", 11);
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.json().getString("reason")).isEqualTo("cost_exceeds_limit");
    assertThat(refused.hasHeader("Retry-After")).isFalse();
    assertThat(node.check("glutton", "ten-at-most", 10).status()).isEqualTo(200);
  }

  @Test
  void largestNumbersAreExact() {
    bucket("vast", 1_000_000_000_000L, "1h");
    assertThat(node.check("whale", "vast", 999_999_999_999L).remaining()).isEqualTo(1);
    assertThat(node.check("whale", "vast", 2).status()).isEqualTo(429);
    assertThat(node.check("whale", "vast", 1).status()).isEqualTo(200);
    assertThat(node.check("whale", "vast", 1).status()).isEqualTo(429);
  }

  @Test
  void endpointsCostTheirWeight() {
    bucket("weighed", 100, "1h");
    assertThat(node.adminPut("/endpoints/search", "{\"weight\":10}").status()).isEqualTo(204);
    assertThat(node.adminPut("/endpoints/health", "{\"weight\":0}").status()).isEqualTo(204);
    JsonObject base = request("weigher").put("plan", "weighed");
    assertThat(node.check(base.copy().put("endpoint", "search")).remaining()).isEqualTo(90);
    assertThat(node.check(base.copy().put("endpoint", "health")).remaining()).isEqualTo(90);
    assertThat(node.check(base.copy().put("endpoint", "unheard-of")).remaining()).isEqualTo(89);
    assertThat(node.check(base.copy().put("endpoint", "search").put("cost", 4)).remaining())
        .isEqualTo(85);
    assertThat(
            node.get("/v1/check?key=weigher&plan=weighed&endpoint=search").json().getLong("limit"))
        .isEqualTo(100);
    node.assign("weigher", "weighed");
    assertThat(node.remaining("weigher")).isEqualTo(75);
  }

  @Test
  void everyAnswerCarriesTheHeaders() {
    bucket("headed", 2, "1h");
    for (int expected : List.of(1, 0)) {
      Answer allowed = node.check("reader", "headed", 1);
      assertThat(allowed.status()).isEqualTo(200);
      assertHeaders(allowed, expected);
      assertThat(allowed.hasHeader("Retry-After")).isFalse();
      assertThat(allowed.header("Content-Type")).startsWith("application/json");
    }
    Answer denied = node.check("reader", "headed", 1);
    assertHeaders(denied, 0);
    assertThat(Long.parseLong(denied.header("Retry-After"))).isBetween(3500L, 3600L);
    assertThat(denied.header("Content-Type")).startsWith("application/problem+json");
    assertThat(denied.json().getString("type"))
        .isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded");
    assertThat(denied.json().getInteger("status")).isEqualTo(429);
    assertThat(denied.json().getString("title")).isNotBlank();
    assertThat(denied.json().getString("reason")).isEqualTo("limit");
    assertThat(denied.json().getJsonArray("violated-policies")).isNotEmpty();
    assertThat(denied.json().getBoolean("allowed")).isFalse();
    assertThat(denied.json().getString("key")).isEqualTo("reader");
    assertThat(denied.json().getString("plan")).isEqualTo("headed");
  }

  private static void assertHeaders(Answer answer, long remaining) {
    assertThat(answer.header("X-RateLimit-Limit")).isEqualTo("2");
    assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo(Long.toString(remaining));
    assertThat(Long.parseLong(answer.header("X-RateLimit-Reset")))
        .as("epoch seconds")
        .isGreaterThan(1_700_000_000L);
    assertThat(answer.header("X-RateLimit-Stale")).matches("\\d+\\.\\d");
    assertThat(answer.header("RateLimit-Policy")).matches("\"default\";q=2;w=7200");
    assertThat(answer.header("RateLimit")).matches("\"default\";r=" + remaining + ";t=\\d+");
    assertThat(answer.hasHeader("X-RateLimit-Degraded")).isFalse();
  }

  @Test
  void unknownPlanIsNotFoundAndIsAProblem() {
    Answer answer = node.check("anyone", "no-such-plan", 1);
    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    assertThat(answer.json().getInteger("status")).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "null",
        "\"key\"",
        "{}",
        "{\"key\":\"\"}",
        "{\"key\":null}",
        "{\"key\":7}",
        "{\"key\":\"\\ud800\"}",
        "{\"key\":\"a\",\"cost\":-1}",
        "{\"key\":\"a\",\"cost\":1.5}",
        "{\"key\":\"a\",\"cost\":\"1\"}",
        "{\"key\":\"a\",\"cost\":1000000000001}",
        "{\"key\":\"a\",\"cost\":9223372036854775808}",
        "{\"key\":\"a\",\"cost\":1e400}",
        "{\"key\":\"a\",\"cost\":true}",
        "{\"key\":\"a\",\"plan\":3}",
        "{\"key\":\"a\",\"endpoint\":[]}",
        "{\"key\":\"a\"} trailing"
      })
  void badBodyIsABadRequest(String body) {
    assertProblem(node.post("/v1/check", body), 400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "?", "?key=", "?key=a&cost=-1", "?key=a&cost=1.5", "?key=a&cost=x", "?cost=1"})
  void badQueryIsABadRequest(String query) {
    assertProblem(node.get("/v1/check" + query), 400);
  }

  @Test
  void keyOfAKibibyteIsTheLongest() {
    String longest = "\u00e9".repeat(512);
    assertThat(node.check(longest).status()).isEqualTo(200);
    assertProblem(node.check(longest + "a"), 400);
  }

  @Test
  void otherBadRequestsAreProblemsToo() {
    assertProblem(node.get("/no/such/path"), 404);
    assertProblem(node.request("DELETE", "/v1/check", "application/json", "{}"), 405);
    assertProblem(node.request("POST", "/v1/check", "text/plain", "{\"key\":\"a\"}"), 415);
    String large = "{\"key\":\"" + "a".repeat(1 << 20) + "\"}";
    assertProblem(node.post("/v1/check", large), 413);
  }

  @Test
  void badRequestsSpendNothing() {
    bucket("guarded", 2, "1h");
    JsonObject base = request("careless").put("plan", "guarded");
    assertThat(node.check(base.copy().put("cost", -1)).status()).isEqualTo(400);
    assertThat(node.check(base.copy().put("cost", 0.5)).status()).isEqualTo(400);
    JsonArray batch = checks(2, "careless", "guarded").add(new JsonObject().put("key", ""));
    assertThat(node.batch(batch).status()).isEqualTo(400);
    assertThat(node.check("careless", "guarded", 2).status()).isEqualTo(200);
  }

  @Test
  void batchIsAnsweredInOrder() {
    bucket("batched", 2, "1h");
    JsonArray checks = new JsonArray();
    for (String key : List.of("x", "y", "x", "x", "y")) {
      checks.add(new JsonObject().put("key", key).put("plan", "batched"));
    }
    JsonArray decisions = node.batch(checks).json().getJsonArray("decisions");
    assertThat(decisions.stream().map(d -> ((JsonObject) d).getString("key")).toList())
        .isEqualTo(List.of("x", "y", "x", "x", "y"));
    assertThat(decisions.stream().map(d -> ((JsonObject) d).getBoolean("allowed")).toList())
        .isEqualTo(List.of(true, true, true, false, true));
  }

  @Test
  void batchTakesTenThousandChecksAndNotOneMore() {
    bucket("bulk", 5000, "1h");
    assertThat(admittedOf(node.batch(checks(10_000, "bulk-key", "bulk")))).isEqualTo(5000);
    assertProblem(node.batch(checks(10_001, "bulk-key", "bulk")), 400);
  }

  @Test
  void deletedPlanIsGoneAndAUsedOneStays() {
    bucket("doomed", 1, "1h");
    node.assign("dweller", "doomed");
    assertThat(node.adminDelete("/limits/doomed").status()).isIn(404, 405);
    assertThat(node.adminDelete("/plans/doomed").status()).isEqualTo(409);
    assertThat(node.adminDelete("/admin/limits/dweller").status()).isEqualTo(204);
    assertThat(node.adminDelete("/plans/doomed").status()).isEqualTo(204);
    assertThat(node.adminGet("/plans/doomed").status()).isEqualTo(404);
    assertThat(node.check("dweller", "doomed", 1).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[]",
        "{}",
        "{\"rate\":-1,\"period\":\"1s\",\"capacity\":1}",
        "{\"rate\":1,\"period\":\"1 fortnight\",\"capacity\":1}",
        "{\"rate\":1,\"period\":\"1s\",\"capacity\":1000000000001}",
        "{\"rate\":1,\"period\":\"1s\",\"capacity\":1,\"colour\":\"red\"}",
        "{\"rate\":\"fast\",\"period\":\"1s\",\"capacity\":1}"
      })
  void badPlanIsRefusedAndChangesNothing(String plan) {
    assertProblem(node.adminPut("/limits/bad", plan), 400);
    assertThat(node.adminGet("/plans/bad").status()).isEqualTo(404);
  }

  @Test
  void healthAndMetricsAnswer() {
    assertThat(node.check("measured").status()).isEqualTo(200);
    assertThat(node.adminGet("/health/live").status()).isEqualTo(200);
    assertThat(node.adminGet("/health/ready").status()).isEqualTo(200);
    Answer metrics = node.adminGet("/metrics");
    assertThat(metrics.status()).isEqualTo(200);
    assertThat(metrics.body()).contains("weir_");
    assertThat(node.nodes()).isEqualTo(1);
  }

  private static void assertProblem(Answer answer, int status) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
    assertThat(answer.json().getInteger("status")).isEqualTo(status);
    assertThat(answer.json().getString("title")).isNotBlank();
  }

  /** The plan {@code name}, in force on the node: one permit per {@code period}. */
  private void bucket(String name, long capacity, String period) {
    node.putPlan(
        name,
        new JsonObject().put("rate", 1).put("period", period).put("capacity", capacity).encode());
    await()
        .atMost(IN_FORCE)
        .until(
            () -> {
              Answer peek = node.check("onlooker of " + name, name, 0);
              return peek.status() == 200 && peek.json().getLong("limit") == capacity;
            });
  }

  /** Spends until there is nothing left; a slow machine may need more than one try. */
  private Answer firstDenied(String key, String plan) {
    return IntStream.range(0, 100)
        .mapToObj(i -> node.check(key, plan, 1))
        .filter(answer -> !answer.admitted())
        .findFirst()
        .orElseThrow();
  }

  static JsonObject request(String key) {
    return new JsonObject().put("key", key);
  }

  static JsonObject peek(String key) {
    return request(key).put("cost", 0);
  }

  private static JsonArray checks(int count, String key, String plan) {
    JsonArray checks = new JsonArray();
    for (int i = 0; i < count; i++) {
      checks.add(request(key).put("plan", plan));
    }
    return checks;
  }

  private static long admittedOf(Answer batch) {
    assertThat(batch.status()).as(batch.body()).isEqualTo(200);
    return batch.json().getJsonArray("decisions").stream()
        .filter(d -> ((JsonObject) d).getBoolean("allowed"))
        .count();
  }
}
