package dev.weir.decision;

import dev.weir.config.ConfigSnapshot;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The HTTP endpoints over a limiter that is made up. */
final class DataPlane {

  private DataPlane() {}

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
    HttpAnswers answers = new HttpAnswers(() -> epochMillis);
    return new CheckHttpHandler(
        limiter,
        FakeLimiter::requireResolvable,
        token,
        answers,
        request -> answers.problem(request, Problem.notFound("path: is not served here")),
        new AuthorizeHandler(
            limiter, () -> config, new TrustedProxies(trustedProxies), token, answers));
  }
}
