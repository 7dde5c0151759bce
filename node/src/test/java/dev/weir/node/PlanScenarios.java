package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a caller sees of plans of every kind, besides what is the same for all. */
abstract class PlanScenarios extends PublicScenarios {

  /** A limit of a hundred by each algorithm, which no test lasts long enough to see refilled. */
  static Stream<Arguments> hundred() {
    return Stream.of(
            "{'rate':1,'period':'1h','capacity':100}",
            "{'rate':1,'period':'1h','capacity':100,'strict':true}",
            "{'algorithm':'sliding_window','limit':100,'window':'1d'}",
            "{'algorithm':'fixed_window','limit':100,'window':'365d'}",
            "{'algorithm':'fixed_window','limit':100,'window':'year','zone':'Asia/Kathmandu'}",
            "{'algorithm':'sliding_log','limit':100,'window':'1h'}")
        .map(text -> Arguments.of(text.replace('\'', '"')));
  }

  private static JsonObject withQuota(String plan, long quota) {
    JsonObject json = new JsonObject(plan);
    return json.put(json.containsKey("capacity") ? "capacity" : "limit", quota);
  }

  /** Puts a plan and sees it in force. */
  private void put(String name, JsonObject plan, long limit) {
    node().putPlan(name, plan.encode());
    await()
        .atMost(IN_FORCE)
        .until(
            () -> {
              Answer peek = node().check("onlooker of " + name, name, 0);
              return peek.status() == 200 && peek.json().getLong("limit") == limit;
            });
  }

  private long admitted(int calls, String key, String plan) {
    return IntStream.range(0, calls).filter(i -> node().check(key, plan, 1).admitted()).count();
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void loweringAndRaisingForgetsNothingUnderAnyAlgorithm(String plan) {
    String name = "updown" + plan.hashCode();
    put(name, withQuota(plan, 100), 100);
    assertThat(node().check("walker " + name, name, 90).remaining()).isEqualTo(10);
    put(name, withQuota(plan, 50), 50);
    assertThat(node().check("walker " + name, name, 1).status()).isEqualTo(429);
    assertThat(node().check("walker " + name, name, 0).remaining()).isZero();
    put(name, withQuota(plan, 100), 100);
    await().atMost(IN_FORCE).until(() -> node().check("walker " + name, name, 0).remaining() == 10);
    assertThat(node().check("walker " + name, name, 11).status()).isEqualTo(429);
    assertThat(node().check("walker " + name, name, 10).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void aLimitOfTenRaisedToTwentyGivesTenMore(String plan) {
    String name = "twice" + plan.hashCode();
    put(name, withQuota(plan, 10), 10);
    assertThat(admitted(50, "eager " + name, name)).isEqualTo(10);
    put(name, withQuota(plan, 20), 20);
    assertThat(admitted(50, "eager " + name, name)).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("hundred")
  void callsAtOnceNeverGetMoreThanTheLimit(String plan) {
    String name = "crowded" + plan.hashCode();
    put(name, withQuota(plan, 5), 5);
    List<Answer> answers = Crowd.call(20, 3, call -> node().check("crowd " + name, name, 1));
    assertThat(answers).filteredOn(Answer::admitted).hasSize(5);
  }

  @Test
  void whatWasUsedIsCarriedFromAlgorithmToAlgorithm() {
    put("morph", new JsonObject(hundred().findFirst().orElseThrow().get()[0].toString()), 100);
    assertThat(node().check("shifter", "morph", 60).status()).isEqualTo(200);
    for (Arguments next : hundred().toList()) {
      JsonObject plan = new JsonObject(next.get()[0].toString());
      node().putPlan("morph", plan.encode());
      await()
          .atMost(IN_FORCE)
          .untilAsserted(
              () -> assertThat(node().check("shifter", "morph", 0).remaining()).isEqualTo(40));
      assertThat(node().check("shifter", "morph", 41).status()).isEqualTo(429);
    }
  }

  @Test
  void severalLimitsAreTakenTogetherOrNotAtAll() {
    JsonArray limits =
        new JsonArray()
            .add(limit("three", 3))
            .add(limit("ten", 10))
            .add(limit("found", 1).put("endpoints", new JsonArray().add("search")));
    put("both", new JsonObject().put("limits", limits), 3);
    node().assign("pair", "both");
    await()
        .atMost(IN_FORCE)
        .until(() -> node().check(peek("pair")).json().getString("plan").equals("both"));

    List<Answer> answers = IntStream.range(0, 5).mapToObj(i -> node().check("pair")).toList();

    assertThat(answers).filteredOn(Answer::admitted).hasSize(3);
    assertThat(answers.get(4).json().getLong("limit")).isEqualTo(3);
    assertThat(answers.get(4).header("RateLimit"))
        .contains("\"three\";r=0")
        .contains("\"ten\";r=7")
        .doesNotContain("found");
    assertThat(remainingOf("pair")).containsExactly(0L, 7L, 1L);
    Answer search = node().check(request("pair").put("endpoint", "search"));
    assertThat(search.status()).isEqualTo(429);
    assertThat(remainingOf("pair")).containsExactly(0L, 7L, 1L);
  }

  private static JsonObject limit(String name, long capacity) {
    return new JsonObject()
        .put("name", name)
        .put("rate", 1)
        .put("period", "1d")
        .put("capacity", capacity);
  }

  private List<Long> remainingOf(String key) {
    return node().adminGet("/limits/" + key).json().getJsonArray("limits").stream()
        .map(limit -> ((JsonObject) limit).getLong("remaining"))
        .toList();
  }

  @Test
  void aCutBelowWhatWasUsedDeniesWithATimeThatHolds() {
    JsonObject plan = new JsonObject().put("rate", 20).put("period", "1s").put("capacity", 100);
    put("cut", plan, 100);
    assertThat(node().check("spender", "cut", 80).status()).isEqualTo(200);
    put("cut", plan.put("capacity", 50), 50);
    Answer denied = node().check("spender", "cut", 25);
    assertThat(denied.status()).isEqualTo(429);
    long millis = Math.round(denied.json().getDouble("retry_after") * 1000);
    assertThat(Long.parseLong(denied.header("Retry-After"))).isEqualTo((millis + 999) / 1000);
    assertThat(after(millis, () -> node().check("spender", "cut", 25)).status()).isEqualTo(200);
  }

  private static <T> T after(long millis, Supplier<T> call) {
    return CompletableFuture.supplyAsync(
            call, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS))
        .join();
  }

  @Test
  void aSlidingWindowOfThreeAdmitsAtMostFourInAnySecond() {
    put(
        "slide",
        new JsonObject().put("algorithm", "sliding_window").put("limit", 3).put("window", "1s"),
        3);
    List<Instant> before = new ArrayList<>();
    List<Instant> after = new ArrayList<>();
    Instant end = Instant.now().plusSeconds(5);
    Instant now = Instant.now();
    while (now.isBefore(end)) {
      Answer answer = node().check("slider", "slide", 1);
      if (answer.admitted()) {
        before.add(now);
        after.add(Instant.now());
      } else {
        long millis = Math.round(answer.json().getDouble("retry_after") * 1000);
        after(Math.min(millis, 20), () -> millis);
      }
      now = Instant.now();
    }
    for (int i = 4; i < before.size(); i++) {
      assertThat(Duration.between(before.get(i - 4), after.get(i)))
          .isGreaterThan(Duration.ofSeconds(1));
    }
    assertThat(before).hasSizeBetween(9, 18);
  }

  @Test
  void aMonthResetsOnTheFirstOfTheNextInItsZone() {
    ZoneId zone = ZoneId.of("Pacific/Chatham");
    put(
        "monthly",
        new JsonObject()
            .put("algorithm", "fixed_window")
            .put("limit", 7)
            .put("window", "month")
            .put("zone", zone.getId()),
        7);
    Answer answer = node().check("subscriber", "monthly", 1);
    ZonedDateTime next =
        ZonedDateTime.now(zone).toLocalDate().withDayOfMonth(1).plusMonths(1).atStartOfDay(zone);
    long reset = Long.parseLong(answer.header("X-RateLimit-Reset"));
    assertThat(reset - next.toEpochSecond()).isBetween(-1L, 1L);
  }

  @Test
  void anUnlimitedPlanAllowsAll() {
    node().putPlan("free-for-all", "{\"unlimited\":true}");
    await().atMost(IN_FORCE).until(() -> node().check("any", "free-for-all", 0).status() == 200);
    assertThat(node().check("any", "free-for-all", 1_000_000_000_000L).status()).isEqualTo(200);
    assertThat(admitted(50, "any", "free-for-all")).isEqualTo(50);
  }

  @Test
  void aShadowPlanDeniesNothingAndCountsWhatItWouldDeny() {
    JsonObject plan =
        new JsonObject().put("rate", 1).put("period", "1h").put("capacity", 2).put("shadow", true);
    put("trial", plan, 2);
    double before = wouldDeny();
    assertThat(admitted(5, "guest", "trial")).isEqualTo(5);
    assertThat(wouldDeny() - before).isEqualTo(3);
  }

  private double wouldDeny() {
    return node()
        .adminGet("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith("weir_would_deny_total"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }
}
