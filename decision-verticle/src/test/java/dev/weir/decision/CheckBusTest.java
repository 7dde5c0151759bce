package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.weir.client.CheckAddresses;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.DecisionJson;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CheckBusTest {

  private final Vertx vertx = Vertx.vertx();
  private final FakeLimiter limiter = new FakeLimiter();
  private CheckBus endpoint;

  @BeforeEach
  void serve() {
    endpoint = CheckBus.serve(vertx, limiter, false, () -> 0).await();
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void aCheckIsRepliedADecision() {
    Decision decision = (Decision) ask(CheckRequest.of("acme").withCost(3));

    assertThat(decision.allowed()).isTrue();
    assertThat(decision.remaining()).isEqualTo(7);
    assertThat(decision.limits()).hasSize(1);
  }

  @Test
  void anObjectIsRepliedAnObject() {
    JsonObject allowed = (JsonObject) ask(new JsonObject().put("key", "acme").put("cost", 10));
    JsonObject denied = (JsonObject) ask(new JsonObject().put("key", "acme"));

    assertThat(allowed.getBoolean("allowed")).isTrue();
    assertThat(denied)
        .isEqualTo(DecisionJson.toJson(limiter.check(CheckRequest.of("acme")).result()));
    assertThat(denied.getDouble("retry_after")).isEqualTo(0.9);
    assertThat(denied.getString("reason")).isEqualTo("limit");
  }

  @Test
  void aRefusalFailsTheMessageWithItsCode() {
    assertFailure(new JsonObject().put("key", ""), 400, "key: must not be empty");
    assertFailure(new JsonObject().put("key", "a").put("cost", 1.5), 400, "cost: must be");
    assertFailure(new JsonObject().put("key", "a").put("x", 1), 400, "x: is not a member");
    assertFailure(new JsonObject().put("key", "stranger"), 403, "key: has no plan");
    assertFailure(CheckRequest.of("a").withPlan("nowhere"), 404, "plan: there is no");
  }

  @Test
  void aBodyOfAnyOtherKindIsRefused() {
    for (Object body :
        List.of("acme", 7, Buffer.buffer("{\"key\":\"acme\"}"), new JsonArray().add("acme"))) {
      assertFailure(body, 400, "body: must be a JsonObject or a CheckRequest");
    }
    assertFailure(null, 400, "body: must be a JsonObject or a CheckRequest");
  }

  @Test
  void aFaultOfOursIsNotTheCallersMistake() {
    assertFailure(CheckRequest.of("faulty"), 500, "the fault is ours");
  }

  @Test
  void oneThatStoppedIsNotThereAnyMore() {
    endpoint.stop().await();

    ReplyException failure =
        catchThrowableOfType(ReplyException.class, () -> ask(CheckRequest.of("acme")));
    assertThat(failure.failureType()).isEqualTo(ReplyFailure.NO_HANDLERS);
  }

  private Object ask(Object body) {
    return vertx.eventBus().request(CheckAddresses.LOCAL, body).await().body();
  }

  private void assertFailure(Object body, int code, String message) {
    ReplyException failure = catchThrowableOfType(ReplyException.class, () -> ask(body));

    assertThat(failure.failureType()).isEqualTo(ReplyFailure.RECIPIENT_FAILURE);
    assertThat(failure.failureCode()).isEqualTo(code);
    assertThat(failure.getMessage()).startsWith(message);
  }
}
