package dev.weir.client;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.logging.Logger;
import io.vertx.core.internal.logging.LoggerFactory;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Limits the requests of a vertx-web application: put it on a route before what costs.
 *
 * <pre>
 * router.route("/search/*").handler(RateLimitHandler.create(limiter).withEndpoint(ctx -&gt; "search"));
 * </pre>
 *
 * <p>An allowed request goes on, with the headers of {@link RateLimitHeaders} on whatever answer it
 * gets; a denied one ends here with 429 and a problem document (RFC 9457), or with 503 if its plan
 * is closed while the store is away. A request that is refused since its key has no plan fails with
 * 403, for the router's failure handlers. When no decision can be had, what happens is {@link
 * OnFailure}'s to say.
 *
 * <p>The body of a request that waits for its decision waits too, so this may stand before a {@code
 * BodyHandler}. Immutable; one may serve any number of routes and event loops.
 */
public final class RateLimitHandler implements Handler<RoutingContext> {

  /** What becomes of a request that no decision can be had for. */
  public enum OnFailure {
    /** It goes on, unlimited. */
    PASS,
    /** It fails with 503. */
    REFUSE
  }

  private static final Logger LOG = LoggerFactory.getLogger(RateLimitHandler.class);
  private static final String DECISION = "dev.weir.decision";

  private final RateLimiter limiter;
  private final Function<RoutingContext, String> key;
  private final Function<RoutingContext, String> endpoint;
  private final OnFailure onFailure;

  /** Shared with the handlers made of this one: it is one limiter that fails. */
  private final AtomicBoolean failing;

  private RateLimitHandler(
      RateLimiter limiter,
      Function<RoutingContext, String> key,
      Function<RoutingContext, String> endpoint,
      OnFailure onFailure,
      AtomicBoolean failing) {
    this.limiter = limiter;
    this.key = key;
    this.endpoint = endpoint;
    this.onFailure = onFailure;
    this.failing = failing;
  }

  /**
   * A handler that takes the key from {@code X-Api-Key}, else the bearer token, else the client's
   * address (see {@link CallerKey}); names no endpoint; and lets requests pass when {@code limiter}
   * fails.
   *
   * <p>Behind a proxy the address is the proxy's, unless the router is told whom to believe by
   * {@code Router.allowForward}.
   */
  public static RateLimitHandler create(RateLimiter limiter) {
    return new RateLimitHandler(
        limiter, RateLimitHandler::callerOf, ctx -> "", OnFailure.PASS, new AtomicBoolean());
  }

  /** The same with another key, 1 to {@value CheckRequest#MAX_KEY_BYTES} bytes of UTF-8. */
  public RateLimitHandler withKey(Function<RoutingContext, String> key) {
    return new RateLimitHandler(limiter, key, endpoint, onFailure, failing);
  }

  /** The same with an endpoint, whose weight is the cost; the empty text names none. */
  public RateLimitHandler withEndpoint(Function<RoutingContext, String> endpoint) {
    return new RateLimitHandler(limiter, key, endpoint, onFailure, failing);
  }

  /** The same with another answer to a limiter that fails. */
  public RateLimitHandler onFailure(OnFailure onFailure) {
    return new RateLimitHandler(limiter, key, endpoint, onFailure, failing);
  }

  /**
   * The decision on a request that has passed a handler of this kind, the last of them; empty if it
   * passed for want of one.
   */
  public static Optional<Decision> decision(RoutingContext ctx) {
    return Optional.ofNullable(ctx.get(DECISION));
  }

  @Override
  public void handle(RoutingContext ctx) {
    CheckRequest check;
    try {
      check = CheckRequest.of(key.apply(ctx)).withEndpoint(endpoint.apply(ctx));
    } catch (CheckRefusedException refused) {
      ctx.fail(refused.code(), refused);
      return;
    }
    HttpServerRequest request = ctx.request();
    boolean unread = !request.isEnded();
    if (unread) {
      request.pause();
    }
    Context context = ctx.vertx().getOrCreateContext();
    limiter
        .check(check)
        .onComplete(
            done -> {
              if (Vertx.currentContext() == context) {
                goOn(ctx, unread, done);
              } else {
                // Body and answer are the event loop's, wherever the decision was made.
                context.runOnContext(ignored -> goOn(ctx, unread, done));
              }
            });
  }

  private void goOn(RoutingContext ctx, boolean unread, AsyncResult<Decision> done) {
    resume(ctx.request(), unread);
    if (done.succeeded()) {
      recovered();
      decided(ctx, done.result());
    } else {
      undecided(ctx, done.cause());
    }
  }

  private static void resume(HttpServerRequest request, boolean unread) {
    if (unread) {
      request.resume();
    }
  }

  private static void decided(RoutingContext ctx, Decision decision) {
    MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    RateLimitHeaders.addTo(headers, decision, WallClock.epochMillis());
    // Where several handlers limit a request, the last decision is the one that is told.
    HttpServerResponse response = ctx.response();
    response.headers().setAll(headers);
    ctx.put(DECISION, decision);
    if (decision instanceof Decision.Denied denied) {
      int status = DecisionJson.status(denied, 429);
      StringBuilder body = new StringBuilder();
      DecisionJson.appendProblem(body, denied, status);
      response
          .setStatusCode(status)
          .putHeader(HttpHeaders.CONTENT_TYPE, DecisionJson.PROBLEM_MEDIA_TYPE)
          .putHeader(HttpHeaders.CACHE_CONTROL, "no-store")
          .end(Buffer.buffer(body.toString()));
    } else {
      ctx.next();
    }
  }

  private void undecided(RoutingContext ctx, Throwable failure) {
    if (failure instanceof CheckRefusedException refused) {
      recovered();
      ctx.fail(refused.code(), refused);
      return;
    }
    if (failing.compareAndSet(false, true)) {
      LOG.warn("no decisions can be had, requests " + consequence() + ": " + failure);
    }
    if (onFailure == OnFailure.PASS) {
      ctx.next();
    } else {
      ctx.fail(503, failure);
    }
  }

  private String consequence() {
    return onFailure == OnFailure.PASS ? "pass unlimited" : "are refused";
  }

  private void recovered() {
    if (failing.get() && failing.compareAndSet(true, false)) {
      LOG.info("decisions can be had again");
    }
  }

  private static String callerOf(RoutingContext ctx) {
    MultiMap headers = ctx.request().headers();
    return CallerKey.ofHeader(headers.getAll("X-Api-Key"))
        .or(() -> CallerKey.ofBearer(headers.getAll(HttpHeaders.AUTHORIZATION)))
        .orElseGet(
            () ->
                CallerKey.ofAddress(
                    Optional.ofNullable(ctx.request().remoteAddress())
                        .map(SocketAddress::host)
                        .flatMap(IpAddress::parse)));
  }
}
