package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.ConfigSnapshot;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The HTTP endpoints over a limiter that is made up. */
final class DataPlane {

  /** For some large bodies at once. */
  static final long ROOM_BYTES = 4L << 20;

  private DataPlane() {}

  /** Settles whatever it is asked to. */
  private static final class NothingToHold implements Reservations {
    @Override
    public Future<Reserved> reserve(CheckRequest request, Duration life) {
      return Future.failedFuture(
          CheckRefusedException.badRequest("cost: there is nothing to hold"));
    }

    @Override
    public Future<Settled> settle(ReservationId id, long spent) {
      return Future.succeededFuture(new Settled(Settlement.SETTLED, 0));
    }
  }

  static Handler<HttpServerRequest> of(
      FakeLimiter limiter, long epochMillis, Optional<String> token) {
    ConfigSnapshot config = Plans.config(Plans.bucket("free", 1, Duration.ofSeconds(1), 10));
    return of(limiter, epochMillis, token, config, List.of());
  }

  static Handler<HttpServerRequest> of(
      FakeLimiter limiter,
      long epochMillis,
      Optional<String> tokenText,
      ConfigSnapshot config,
      List<AddressBlock> trustedProxies) {
    CallerToken token = new CallerToken(tokenText);
    HttpAnswers answers = new HttpAnswers(() -> epochMillis, new BodyRoom(ROOM_BYTES));
    return new CheckHttpHandler(
        limiter,
        FakeLimiter::requireResolvable,
        token,
        answers,
        new ReservationHandler(new NothingToHold(), answers),
        new AuthorizeHandler(
            limiter, () -> config, new TrustedProxies(trustedProxies), token, answers));
  }
}
