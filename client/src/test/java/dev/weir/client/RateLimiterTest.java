package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RateLimiterTest {

  private static final LimitStatus STATUS = Decisions.status("default", 10, 10, 9, 1_000);

  private final Vertx vertx = Vertx.vertx();
  private final List<CheckRequest> asked = new ArrayList<>();
  private final RateLimiter node =
      request -> {
        asked.add(request);
        return Future.succeededFuture(Decisions.allowed(request.key(), STATUS));
      };

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void theNodeInTheSameVertxAnswersAtOnceWhenItComes() {
    RateLimiter limiter = RateLimiter.create(vertx);
    assertThat(limiter.check("acme").cause()).isInstanceOf(IllegalStateException.class);

    LocalLimiters.register(vertx, node);
    Future<Decision> answer = limiter.check("acme", 3);

    assertThat(answer.succeeded()).isTrue();
    assertThat(answer.result().key()).isEqualTo("acme");
    assertThat(asked).containsExactly(CheckRequest.of("acme").withCost(3));
  }

  @Test
  void aNodeThatLeftIsNotAskedAnyMore() {
    RateLimiter limiter = RateLimiter.create(vertx);
    RateLimiter other = request -> Future.failedFuture("not me");
    LocalLimiters.register(vertx, node);
    LocalLimiters.unregister(vertx, other);
    assertThat(limiter.check("acme").succeeded()).isTrue();

    LocalLimiters.unregister(vertx, node);

    assertThat(limiter.check("acme").failed()).isTrue();
  }

  @Test
  void aBadArgumentFailsTheFutureAndAsksNobody() {
    LocalLimiters.register(vertx, node);
    RateLimiter limiter = RateLimiter.create(vertx);

    for (Future<Decision> refused :
        List.of(
            limiter.check(""),
            limiter.check("acme", -1),
            limiter.check("acme", CheckRequest.MAX_COST + 1))) {
      assertThat(refused.cause())
          .isInstanceOfSatisfying(
              CheckRefusedException.class, cause -> assertThat(cause.code()).isEqualTo(400));
    }
    assertThat(asked).isEmpty();
  }
}
