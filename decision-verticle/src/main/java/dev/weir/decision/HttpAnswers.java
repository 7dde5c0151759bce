package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.DecisionJson;
import dev.weir.client.RateLimitHeaders;
import dev.weir.decision.Reservations.Reserved;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Writes what the data plane answers: decisions and problems. Whatever an answer meets while it is
 * made becomes an answer as well. Without state of its own beyond the log of faults.
 */
final class HttpAnswers {

  private static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  private static final CharSequence PROBLEM_JSON =
      HttpHeaders.createOptimized(DecisionJson.PROBLEM_MEDIA_TYPE);
  private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
  private static final CharSequence WWW_AUTHENTICATE =
      HttpHeaders.createOptimized("WWW-Authenticate");
  private static final CharSequence CHALLENGE =
      HttpHeaders.createOptimized("Bearer realm=\"weir\"");
  private static final CharSequence CHALLENGE_AGAIN =
      HttpHeaders.createOptimized("Bearer realm=\"weir\", error=\"invalid_token\"");

  /** Room for the usual answer to one check. */
  static final int BODY_CHARS = 256;

  private final LongSupplier storeEpochMillis;
  private final BodyRoom room;
  private final FaultLog faults;

  /**
   * @param storeEpochMillis the store's time, in milliseconds since 1970
   * @param room for the bodies of all requests that are answered here
   */
  HttpAnswers(LongSupplier storeEpochMillis, BodyRoom room) {
    this.storeEpochMillis = storeEpochMillis;
    this.room = room;
    this.faults = new FaultLog(storeEpochMillis);
  }

  /** Runs one step of an answer; whatever it throws becomes the answer. */
  void guarded(HttpServerRequest request, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException failure) {
      fail(request, failure);
    }
  }

  /** Goes on with the whole body. */
  void readBody(HttpServerRequest request, Consumer<byte[]> whole) {
    RequestBody.read(
        request,
        room,
        body -> guarded(request, () -> whole.accept(body)),
        () ->
            problem(
                request,
                Problem.contentTooLarge(
                    "body: must be at most " + RequestBody.MAX_BYTES + " bytes")),
        () -> noRoom(request));
  }

  /** RFC 9110, section 15.5.14: where that is for a while only, the answer says for how long. */
  private void noRoom(HttpServerRequest request) {
    request.response().putHeader(HttpHeaders.RETRY_AFTER, "1");
    problem(
        request,
        Problem.contentTooLarge("body: others take all the room that there is for bodies"));
  }

  void refuseMethod(HttpServerRequest request, CharSequence allowed) {
    request.response().putHeader(HttpHeaders.ALLOW, allowed);
    problem(request, Problem.methodNotAllowed("method: must be one of " + allowed));
  }

  /** Goes on with the result, at once if it is there; a failure becomes the answer. */
  <T> void whenDone(HttpServerRequest request, Future<T> future, Consumer<T> then) {
    if (future.succeeded()) {
      then.accept(future.result());
    } else {
      future.onComplete(
          result -> guarded(request, () -> then.accept(result)), failure -> fail(request, failure));
    }
  }

  /** The decision in full: headers, and all members in the body. */
  void decision(HttpServerRequest request, Decision decision) {
    if (decision instanceof Denied denied) {
      denial(request, denied, 429);
    } else {
      addLimits(request, decision);
      StringBuilder body = new StringBuilder(BODY_CHARS);
      DecisionJson.append(body, decision);
      json(request, body.toString());
    }
  }

  /** The reservation, or why there is none. */
  void reservation(HttpServerRequest request, Reserved reserved, Duration life) {
    if (reserved.id().isEmpty()) {
      decision(request, reserved.decision());
      return;
    }
    addLimits(request, reserved.decision());
    StringBuilder body = new StringBuilder(2 * BODY_CHARS);
    body.append("{\"id\":\"").append(reserved.id().get().text()).append("\",\"expires_after\":");
    body.append(BigDecimal.valueOf(life.toMillis(), 3).stripTrailingZeros().toPlainString());
    int members = body.length();
    DecisionJson.append(body, reserved.decision());
    body.setCharAt(members, ',');
    request.response().setStatusCode(201);
    json(request, body.toString());
  }

  /**
   * A denial as a problem.
   *
   * @param usual status, which one has unless it tells of the store alone
   */
  void denial(HttpServerRequest request, Denied denied, int usual) {
    int status = DecisionJson.status(denied, usual);
    addLimits(request, denied);
    StringBuilder body = new StringBuilder(BODY_CHARS);
    DecisionJson.appendProblem(body, denied, status);
    HttpServerResponse response = request.response();
    response.setStatusCode(status).headers().add(HttpHeaders.CONTENT_TYPE, PROBLEM_JSON);
    end(request, Buffer.buffer(body.toString()));
  }

  /** The headers of an allowed decision, and nothing more. */
  void nothing(HttpServerRequest request, Decision decision) {
    addLimits(request, decision);
    end(request, Buffer.buffer(0));
  }

  void json(HttpServerRequest request, String body) {
    request.response().headers().add(HttpHeaders.CONTENT_TYPE, JSON);
    end(request, Buffer.buffer(body));
  }

  /** The store is away, so that nothing can be said: to be asked again in a second. */
  void unavailable(HttpServerRequest request, String detail) {
    request.response().putHeader(HttpHeaders.RETRY_AFTER, "1");
    problem(request, Problem.temporaryReducedCapacity(detail));
  }

  void problem(HttpServerRequest request, Problem problem) {
    HttpServerResponse response = request.response();
    if (!response.ended()) {
      response.setStatusCode(problem.status()).putHeader(HttpHeaders.CONTENT_TYPE, PROBLEM_JSON);
      end(request, Buffer.buffer(problem.toJson()));
    }
  }

  /**
   * Tells a caller without the token to bear one.
   *
   * @param borne whether it bears another
   */
  void unauthorized(HttpServerRequest request, boolean borne) {
    request.response().putHeader(WWW_AUTHENTICATE, borne ? CHALLENGE_AGAIN : CHALLENGE);
    problem(
        request,
        Problem.unauthorized(
            borne ? "authorization: is not the token" : "authorization: needs a bearer token"));
  }

  void fail(HttpServerRequest request, Throwable failure) {
    if (failure instanceof CheckRefusedException refused) {
      problem(request, Problem.ofRefusal(refused.code(), refused.getMessage()));
    } else if (failure instanceof UnsupportedMediaTypeException unsupported) {
      problem(request, Problem.unsupportedMediaType(unsupported.getMessage()));
    } else {
      faults.tell("a check over HTTP", failure);
      problem(request, Problem.internalError());
    }
  }

  private void addLimits(HttpServerRequest request, Decision decision) {
    RateLimitHeaders.addTo(request.response().headers(), decision, storeEpochMillis.getAsLong());
  }

  /** Nothing is cached: the same question spends again. */
  private static void end(HttpServerRequest request, Buffer body) {
    HttpServerResponse response = request.response();
    if (response.closed()) {
      return;
    }
    response.headers().add(HttpHeaders.CACHE_CONTROL, NO_STORE);
    response.headers().set(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length()));
    // Over HTTP/2, Vert.x would send it in answer to HEAD as well.
    Buffer sent = request.method().equals(HttpMethod.HEAD) ? Buffer.buffer(0) : body;
    // A failure to write means that the client has gone; there is nobody to tell.
    response.end(sent);
  }
}
