package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.decision.Reservations.Settled;
import dev.weir.lease.Purpose;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reservations over HTTP: {@code /v1/reservations}, and {@code /v1/reservations/ID/commit} and
 * {@code .../release}. Without state of its own, so one may serve several event loops.
 */
final class ReservationHandler implements Handler<HttpServerRequest> {

  static final String PATH = "/v1/reservations";

  private static final String ONE = PATH + "/";
  private static final String COMMIT = "/commit";
  private static final String RELEASE = "/release";
  private static final CharSequence POST = HttpHeaders.createOptimized("POST");

  private final Reservations reservations;
  private final HttpAnswers answers;

  ReservationHandler(Reservations reservations, HttpAnswers answers) {
    this.reservations = reservations;
    this.answers = answers;
  }

  static boolean serves(String path) {
    return path.equals(PATH)
        || (path.startsWith(ONE) && (path.endsWith(COMMIT) || path.endsWith(RELEASE)));
  }

  /** Serves a caller that may ask. */
  @Override
  public void handle(HttpServerRequest request) {
    String path = request.path();
    if (!request.method().equals(HttpMethod.POST)) {
      answers.refuseMethod(request, POST);
    } else if (path.length() == PATH.length()) {
      answers.readBody(request, body -> reserve(request, body));
    } else if (path.endsWith(COMMIT)) {
      answers.readBody(request, body -> commit(request, idOf(path, COMMIT), body));
    } else {
      answers.readBody(request, body -> release(request, idOf(path, RELEASE), body));
    }
  }

  /** What stands between the path of all and the word for what to do; empty if it is no id. */
  private static Optional<ReservationId> idOf(String path, String deed) {
    int start = ONE.length();
    int end = path.length() - deed.length();
    return start < end ? ReservationId.parse(path.substring(start, end)) : Optional.empty();
  }

  private void reserve(HttpServerRequest request, byte[] body) {
    requireNoQuery(request);
    MediaType.requireJson(request);
    ReservationRequest asked = CheckBody.readReservation(body);
    answers.whenDone(
        request,
        reservations.reserve(IdempotencyKey.of(request, asked.check()), asked.life()),
        reserved -> answers.reservation(request, reserved, asked.life()));
  }

  private void commit(HttpServerRequest request, Optional<ReservationId> id, byte[] body) {
    settle(request, id, costIn(request, body).orElse(Purpose.Settle.ALL));
  }

  private void release(HttpServerRequest request, Optional<ReservationId> id, byte[] body) {
    if (costIn(request, body).isPresent()) {
      throw CheckRefusedException.badRequest("cost: nothing is spent of what is released");
    }
    settle(request, id, 0);
  }

  private static OptionalLong costIn(HttpServerRequest request, byte[] body) {
    requireNoQuery(request);
    if (body.length > 0) {
      MediaType.requireJson(request);
    }
    return CheckBody.readCommit(body);
  }

  private static void requireNoQuery(HttpServerRequest request) {
    String query = request.query();
    if (query != null && !query.isEmpty()) {
      throw CheckRefusedException.badRequest("query: must be empty, all of it is in the body");
    }
  }

  private void settle(HttpServerRequest request, Optional<ReservationId> id, long spent) {
    id.ifPresentOrElse(
        known ->
            answers.whenDone(
                request,
                reservations.settle(known, spent),
                settled -> answer(request, known, settled, spent)),
        () -> unknown(request));
  }

  private void answer(HttpServerRequest request, ReservationId id, Settled settled, long spent) {
    switch (settled.settlement()) {
      case SETTLED -> {
        long all = settled.reserved();
        JsonObject body =
            new JsonObject()
                .put("id", id.text())
                .put("reserved", all)
                .put("spent", spent == Purpose.Settle.ALL ? all : Math.min(spent, all));
        answers.json(request, body.encode());
      }
      case BEFORE ->
          answers.problem(request, Problem.conflict("id: the reservation is settled already"));
      case UNKNOWN -> unknown(request);
      case TOO_MUCH ->
          answers.problem(
              request,
              Problem.badRequest("cost: must be at most what is reserved, " + settled.reserved()));
      case UNAVAILABLE ->
          answers.unavailable(
              request, "the store did not answer; as far as known nothing is settled");
    }
  }

  private void unknown(HttpServerRequest request) {
    answers.problem(
        request, Problem.notFound("id: there is no such reservation, or its time is over"));
  }
}
