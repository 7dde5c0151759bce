package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.DecisionJson;
import dev.weir.client.RateLimitHeaders;
import dev.weir.client.RateLimiter;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The data plane over HTTP: {@code /v1/check} and {@code /v1/check/batch}.
 *
 * <p>It stands on a bare server, without a router: the kernel takes four fifths of what a check
 * costs, and little may be added to that. A decision that is there at once is answered before this
 * returns, its body written as text and its headers from constants.
 *
 * <p>What a caller sends is either a check or its own mistake (4xx), for which nothing is spent.
 * For a batch that means: all of it is read, and every check of it looked at for a plan that does
 * not exist and a key that has none, before the first is decided.
 *
 * <p>Without state of its own beyond the log of faults, so one may serve several event loops.
 */
final class CheckHttpHandler implements Handler<HttpServerRequest> {

  static final String CHECK_PATH = "/v1/check";
  static final String BATCH_PATH = "/v1/check/batch";

  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  private static final CharSequence PROBLEM_JSON =
      HttpHeaders.createOptimized(DecisionJson.PROBLEM_MEDIA_TYPE);
  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
  private static final CharSequence CHECK_METHODS = HttpHeaders.createOptimized("GET, POST");
  private static final CharSequence BATCH_METHODS = HttpHeaders.createOptimized("POST");
  private static final CharSequence WWW_AUTHENTICATE =
      HttpHeaders.createOptimized("WWW-Authenticate");
  private static final CharSequence CHALLENGE =
      HttpHeaders.createOptimized("Bearer realm=\"weir\"");
  private static final CharSequence CHALLENGE_AGAIN =
      HttpHeaders.createOptimized("Bearer realm=\"weir\", error=\"invalid_token\"");

  private static final String BEARER = "Bearer ";

  /** Room for the usual answer to one check. */
  private static final int BODY_CHARS = 256;

  private final RateLimiter limiter;
  private final Consumer<CheckRequest> resolvable;
  private final LongSupplier storeEpochMillis;
  private final Optional<byte[]> token;
  private final FaultLog faults;

  /**
   * @param limiter that decides
   * @param resolvable throws {@link CheckRefusedException} for a request that has no plan, and
   *     spends nothing: what the limiter would do with it, asked before a batch is begun
   * @param storeEpochMillis the store's time, in milliseconds since 1970
   * @param token that callers have to bear; empty to ask for none
   */
  CheckHttpHandler(
      RateLimiter limiter,
      Consumer<CheckRequest> resolvable,
      LongSupplier storeEpochMillis,
      Optional<String> token) {
    this.limiter = limiter;
    this.resolvable = resolvable;
    this.storeEpochMillis = storeEpochMillis;
    this.token = token.map(text -> text.getBytes(StandardCharsets.UTF_8));
    this.faults = new FaultLog(storeEpochMillis);
  }

  @Override
  public void handle(HttpServerRequest request) {
    guarded(request, () -> route(request));
  }

  /** Runs one step of an answer; whatever it throws becomes the answer. */
  private void guarded(HttpServerRequest request, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException failure) {
      fail(request, failure);
    }
  }

  private void route(HttpServerRequest request) {
    if (token.isPresent() && !isAuthorized(request, token.get())) {
      return;
    }
    String path = request.path();
    if (CHECK_PATH.equals(path)) {
      if (request.method().equals(HttpMethod.POST)) {
        readBody(request, body -> check(request, readCheck(request, body)));
      } else if (request.method().equals(HttpMethod.GET)) {
        check(request, CheckQuery.read(queryOf(request)));
      } else {
        refuseMethod(request, CHECK_METHODS);
      }
    } else if (BATCH_PATH.equals(path)) {
      if (request.method().equals(HttpMethod.POST)) {
        readBody(request, body -> checkAll(request, readBatch(request, body)));
      } else {
        refuseMethod(request, BATCH_METHODS);
      }
    } else {
      answer(request, Problem.notFound("path: there is only " + CHECK_PATH + " and " + BATCH_PATH));
    }
  }

  private boolean isAuthorized(HttpServerRequest request, byte[] expected) {
    String header = request.getHeader(HttpHeaders.AUTHORIZATION);
    boolean borne = header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length());
    if (borne) {
      // The server reads a header's bytes as characters of Latin-1.
      byte[] given =
          header.substring(BEARER.length()).strip().getBytes(StandardCharsets.ISO_8859_1);
      if (MessageDigest.isEqual(expected, given)) {
        return true;
      }
    }
    request.response().putHeader(WWW_AUTHENTICATE, borne ? CHALLENGE_AGAIN : CHALLENGE);
    answer(
        request,
        Problem.unauthorized(
            borne ? "authorization: is not the token" : "authorization: needs a bearer token"));
    return false;
  }

  private void refuseMethod(HttpServerRequest request, CharSequence allowed) {
    request.response().putHeader(HttpHeaders.ALLOW, allowed);
    answer(request, Problem.methodNotAllowed("method: must be one of " + allowed));
  }

  private void readBody(HttpServerRequest request, Consumer<byte[]> whole) {
    RequestBody.read(
        request,
        body -> guarded(request, () -> whole.accept(body)),
        () ->
            answer(
                request,
                Problem.contentTooLarge(
                    "body: must be at most " + RequestBody.MAX_BYTES + " bytes")));
  }

  private static CheckRequest readCheck(HttpServerRequest request, byte[] body) {
    String query = queryOf(request);
    if (body.length == 0) {
      return CheckQuery.read(query);
    }
    requireJson(request);
    if (!query.isEmpty()) {
      throw CheckRefusedException.badRequest(
          "query: must be empty when there is a body; a check is in one of them");
    }
    return CheckBody.readCheck(body);
  }

  private List<CheckRequest> readBatch(HttpServerRequest request, byte[] body) {
    if (body.length > 0) {
      requireJson(request);
    }
    if (!queryOf(request).isEmpty()) {
      throw CheckRefusedException.badRequest("query: must be empty, a batch is all in its body");
    }
    List<CheckRequest> checks = CheckBody.readBatch(body);
    for (int i = 0; i < checks.size(); i++) {
      try {
        resolvable.accept(checks.get(i));
      } catch (CheckRefusedException refused) {
        throw refused.within(CheckBody.pathOf(i));
      }
    }
    return checks;
  }

  private static String queryOf(HttpServerRequest request) {
    String query = request.query();
    return query == null ? "" : query;
  }

  private static void requireJson(HttpServerRequest request) {
    String type = request.getHeader(HttpHeaders.CONTENT_TYPE);
    if (type != null && !MediaType.isJson(type)) {
      throw new UnsupportedMediaTypeException("content-type: must be application/json in UTF-8");
    }
    String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      throw new UnsupportedMediaTypeException("content-encoding: must be left out");
    }
  }

  private void check(HttpServerRequest request, CheckRequest check) {
    whenDone(request, limiter.check(check), decision -> answer(request, decision));
  }

  private void checkAll(HttpServerRequest request, List<CheckRequest> checks) {
    List<Future<Decision>> decisions = new ArrayList<>(checks.size());
    boolean complete = true;
    for (CheckRequest check : checks) {
      Future<Decision> decision = limiter.check(check);
      complete &= decision.isComplete();
      decisions.add(decision);
    }
    if (complete) {
      answerAll(request, decisions);
    } else {
      // Joined, not all or the first failure: an answer must not be given while some still spend.
      Future.join(decisions)
          .onComplete(done -> guarded(request, () -> answerAll(request, decisions)));
    }
  }

  private <T> void whenDone(HttpServerRequest request, Future<T> future, Consumer<T> then) {
    if (future.succeeded()) {
      then.accept(future.result());
    } else {
      future.onComplete(
          result -> guarded(request, () -> then.accept(result)), failure -> fail(request, failure));
    }
  }

  private void answer(HttpServerRequest request, Decision decision) {
    HttpServerResponse response = request.response();
    StringBuilder body = new StringBuilder(BODY_CHARS);
    if (decision instanceof Denied denied) {
      DecisionJson.appendProblem(body, denied);
      response.setStatusCode(429).headers().add(HttpHeaders.CONTENT_TYPE, PROBLEM_JSON);
    } else {
      DecisionJson.append(body, decision);
      response.headers().add(HttpHeaders.CONTENT_TYPE, JSON);
    }
    RateLimitHeaders.addTo(response.headers(), decision, storeEpochMillis.getAsLong());
    end(request, body.toString());
  }

  private void answerAll(HttpServerRequest request, List<Future<Decision>> decisions) {
    StringBuilder body = new StringBuilder(32 + BODY_CHARS * decisions.size());
    body.append("{\"decisions\":[");
    for (int i = 0; i < decisions.size(); i++) {
      Future<Decision> decision = decisions.get(i);
      if (decision.failed()) {
        // The configuration has changed since the batch was looked through, or the fault is ours.
        throw decision.cause() instanceof CheckRefusedException refused
            ? refused.within(CheckBody.pathOf(i))
            : new IllegalStateException("a check of a batch", decision.cause());
      }
      if (i > 0) {
        body.append(',');
      }
      DecisionJson.append(body, decision.result());
    }
    request.response().headers().add(HttpHeaders.CONTENT_TYPE, JSON);
    end(request, body.append("]}").toString());
  }

  private void fail(HttpServerRequest request, Throwable failure) {
    if (failure instanceof CheckRefusedException refused) {
      answer(request, Problem.ofRefusal(refused.code(), refused.getMessage()));
    } else if (failure instanceof UnsupportedMediaTypeException unsupported) {
      answer(request, Problem.unsupportedMediaType(unsupported.getMessage()));
    } else {
      faults.tell("a check over HTTP", failure);
      answer(request, Problem.internalError());
    }
  }

  private void answer(HttpServerRequest request, Problem problem) {
    HttpServerResponse response = request.response();
    if (!response.ended()) {
      response.setStatusCode(problem.status()).putHeader(HttpHeaders.CONTENT_TYPE, PROBLEM_JSON);
      end(request, problem.toJson());
    }
  }

  /** Nothing is cached: the same question spends again. */
  private static void end(HttpServerRequest request, String body) {
    HttpServerResponse response = request.response();
    if (response.closed()) {
      return;
    }
    response.headers().add(HttpHeaders.CACHE_CONTROL, NO_STORE);
    Buffer bytes = Buffer.buffer(body);
    response.headers().set(HttpHeaders.CONTENT_LENGTH, Integer.toString(bytes.length()));
    // A failure to write means that the client has gone; there is nobody to tell.
    response.end(bytes);
  }
}
