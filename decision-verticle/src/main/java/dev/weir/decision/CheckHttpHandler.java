package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.DecisionJson;
import dev.weir.client.RateLimiter;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The data plane over HTTP: {@code /v1/check} and {@code /v1/check/batch}, and the way to {@link
 * ReservationHandler} and {@link AuthorizeHandler}.
 *
 * <p>It stands on a bare server, without a router: the kernel takes four fifths of what a check
 * costs, and little may be added to that. A decision that is there at once is answered before this
 * returns, its body written as text and its headers from constants.
 *
 * <p>What a caller sends is either a check or its own mistake (4xx), for which nothing is spent.
 * For a batch that means: all of it is read, and every check of it looked at for a plan that does
 * not exist and a key that has none, before the first is decided.
 *
 * <p>Without state of its own, so one may serve several event loops.
 */
final class CheckHttpHandler implements Handler<HttpServerRequest> {

  static final String CHECK_PATH = "/v1/check";
  static final String BATCH_PATH = "/v1/check/batch";

  private static final CharSequence CHECK_METHODS = HttpHeaders.createOptimized("GET, POST");
  private static final CharSequence BATCH_METHODS = HttpHeaders.createOptimized("POST");

  private final RateLimiter limiter;
  private final Consumer<CheckRequest> resolvable;
  private final CallerToken token;
  private final HttpAnswers answers;
  private final Handler<HttpServerRequest> reservations;
  private final Handler<HttpServerRequest> authorize;

  /**
   * @param limiter that decides
   * @param resolvable throws {@link CheckRefusedException} for a request that has no plan, and
   *     spends nothing: what the limiter would do with it, asked before a batch is begun
   * @param token that callers have to bear
   * @param reservations answers those who hold permits
   * @param authorize answers gateways
   */
  CheckHttpHandler(
      RateLimiter limiter,
      Consumer<CheckRequest> resolvable,
      CallerToken token,
      HttpAnswers answers,
      Handler<HttpServerRequest> reservations,
      Handler<HttpServerRequest> authorize) {
    this.limiter = limiter;
    this.resolvable = resolvable;
    this.token = token;
    this.answers = answers;
    this.reservations = reservations;
    this.authorize = authorize;
  }

  @Override
  public void handle(HttpServerRequest request) {
    answers.guarded(request, () -> route(request));
  }

  private void route(HttpServerRequest request) {
    String path = request.path();
    if (path != null && AuthorizeHandler.serves(path)) {
      authorize.handle(request);
      return;
    }
    String authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
    if (token.isAskedFor() && !token.isBorneBy(authorization)) {
      answers.unauthorized(request, CallerToken.bears(authorization));
      return;
    }
    if (path != null && ReservationHandler.serves(path)) {
      reservations.handle(request);
    } else if (CHECK_PATH.equals(path)) {
      if (request.method().equals(HttpMethod.POST)) {
        answers.readBody(request, body -> check(request, readCheck(request, body)));
      } else if (request.method().equals(HttpMethod.GET)) {
        check(request, CheckQuery.read(queryOf(request)));
      } else {
        answers.refuseMethod(request, CHECK_METHODS);
      }
    } else if (BATCH_PATH.equals(path)) {
      if (request.method().equals(HttpMethod.POST)) {
        answers.readBody(request, body -> checkAll(request, readBatch(request, body)));
      } else {
        answers.refuseMethod(request, BATCH_METHODS);
      }
    } else {
      answers.problem(
          request,
          Problem.notFound(
              "path: there is only "
                  + CHECK_PATH
                  + ", "
                  + BATCH_PATH
                  + ", "
                  + ReservationHandler.PATH
                  + " and "
                  + AuthorizeHandler.PATH));
    }
  }

  private static CheckRequest readCheck(HttpServerRequest request, byte[] body) {
    String query = queryOf(request);
    if (body.length == 0) {
      return CheckQuery.read(query);
    }
    MediaType.requireJson(request);
    if (!query.isEmpty()) {
      throw CheckRefusedException.badRequest(
          "query: must be empty when there is a body; a check is in one of them");
    }
    return CheckBody.readCheck(body);
  }

  private List<CheckRequest> readBatch(HttpServerRequest request, byte[] body) {
    if (body.length > 0) {
      MediaType.requireJson(request);
    }
    if (!queryOf(request).isEmpty()) {
      throw CheckRefusedException.badRequest("query: must be empty, a batch is all in its body");
    }
    if (IdempotencyKey.isGiven(request)) {
      throw CheckRefusedException.badRequest(
          "idempotency-key: is not for a batch, whose checks may each have an id");
    }
    List<CheckRequest> checks = CheckBody.readBatch(body);
    Map<List<String>, CheckRequest> ids = new HashMap<>();
    for (int i = 0; i < checks.size(); i++) {
      try {
        CheckRequest check = checks.get(i);
        resolvable.accept(check);
        if (!check.id().isEmpty()) {
          CheckRequest first = ids.putIfAbsent(List.of(check.key(), check.id()), check);
          if (first != null && !first.equals(check)) {
            throw CheckRefusedException.reusedId();
          }
        }
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

  private void check(HttpServerRequest request, CheckRequest check) {
    answers.whenDone(
        request,
        limiter.check(IdempotencyKey.of(request, check)),
        decision -> answers.decision(request, decision));
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
          .onComplete(done -> answers.guarded(request, () -> answerAll(request, decisions)));
    }
  }

  private void answerAll(HttpServerRequest request, List<Future<Decision>> decisions) {
    StringBuilder body = new StringBuilder(32 + HttpAnswers.BODY_CHARS * decisions.size());
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
    answers.json(request, body.append("]}").toString());
  }
}
