package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reservations, and checks that are repeated, over two nodes on one Redis. */
final class ReservationIT {

  private static final String NUMBERS =
      "\"rate\":1,\"period\":\"30d\",\"capacity\":10,\"strict\":true";

  private final RedisServer redis = RedisServer.start();
  private RunningNode one;
  private RunningNode two;

  @BeforeEach
  void start() {
    one = node();
    two = node();
    putPlan();
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    redis.close();
  }

  private RunningNode node() {
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_STORE", redis.url());
    settings.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    return RunningNode.start(settings);
  }

  private void putPlan() {
    one.client().putPlan("ten", "{" + NUMBERS + "}");
    two.client().putPlan("ten", "{" + NUMBERS + "}");
  }

  private static Answer reserve(RunningNode node, String key, long cost, String ttl) {
    JsonObject body =
        new JsonObject().put("key", key).put("plan", "ten").put("cost", cost).put("ttl", ttl);
    Answer answer = node.client().post("/v1/reservations", body.encode());
    assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
    return answer;
  }

  private static String path(Answer reserved, String deed) {
    return "/v1/reservations/" + reserved.json().getString("id") + "/" + deed;
  }

  private static long remaining(RunningNode node, String key) {
    return node.client().check(key, "ten", 0).remaining();
  }

  @Test
  void whatOneNodeReservesAnotherSettlesOnce() {
    Answer reserved = reserve(one, "acme", 7, "1m");
    assertThat(two.client().check("acme", "ten", 4).status()).isEqualTo(429);
    assertThat(two.client().post(path(reserved, "commit"), "{\"cost\":2}").status()).isEqualTo(200);
    assertThat(one.client().post(path(reserved, "release"), "").status()).isEqualTo(409);
    assertThat(remaining(one, "acme")).isEqualTo(8);
    assertThat(two.client().check("acme", "ten", 8).status()).isEqualTo(200);
  }

  @Test
  void allGoesBackThoughEveryNodeWasKilled() {
    Answer reserved = reserve(one, "acme", 7, "2s");
    one.kill();
    two.kill();
    one = node();
    two = node();
    putPlan();
    await().atMost(Duration.ofSeconds(20)).until(() -> remaining(two, "acme") == 10);
    assertThat(one.client().post(path(reserved, "commit"), "").status()).isEqualTo(404);
    assertThat(one.client().check("acme", "ten", 10).status()).isEqualTo(200);
  }

  @Test
  void aStrictCheckThatBothNodesAreAskedAtOnceIsChargedOnce() {
    JsonObject check =
        new JsonObject().put("key", "acme").put("plan", "ten").put("cost", 3).put("id", "order 7");
    List<Answer> answers =
        Crowd.call(20, 4, call -> (call % 2 == 0 ? one : two).client().check(check));
    assertThat(answers).allSatisfy(answer -> assertThat(answer.status()).isEqualTo(200));
    assertThat(answers).extracting(Answer::remaining).containsOnly(7L);
    assertThat(remaining(one, "acme")).isEqualTo(7);
    assertThat(two.client().check(check.copy().put("cost", 4)).status()).isEqualTo(422);
    assertThat(remaining(two, "acme")).isEqualTo(7);
  }
}
