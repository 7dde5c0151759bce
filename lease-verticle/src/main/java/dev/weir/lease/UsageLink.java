package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one Redis that has all names of usage, kept connected.
 *
 * <p>A connection of its own, so that no refill waits behind a report. It needs no {@link Breaker}:
 * callers are few and wait for each call before the next, and {@link RedisLink} gives up a
 * connection on which a call finds no answer for half a second.
 *
 * <p>Safe to use from any thread; works and completes its futures on the context that it is made
 * on. A call fails with {@link StoreAwayException}, at once while there is no connection.
 */
final class UsageLink {
  private static final Logger LOG = LoggerFactory.getLogger(UsageLink.class);

  private final Vertx vertx;
  private final Context context;
  private final Supplier<Future<RedisOptions>> place;
  private final LuaScript script;
  private final Clock clock;
  private final Backoff backoff;
  private final Promise<Void> firstAttempt = Promise.promise();
  private Optional<RedisLink> link = Optional.empty();
  private String awayFor = "not connected yet";

  /** Of an attempt before that, the caller of {@link #start} is told. */
  private boolean connectedOnce;

  private boolean lossLogged;
  private boolean closed;

  /**
   * @param place where to connect to, asked each time
   */
  UsageLink(
      Vertx vertx,
      Supplier<Future<RedisOptions>> place,
      LuaScript script,
      Clock clock,
      RandomGenerator random) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.place = place;
    this.script = script;
    this.clock = clock;
    this.backoff = new Backoff(random);
  }

  /** Connects, and again for as long as it is not closed; tells of the first attempt. */
  Future<Void> start() {
    context.runOnContext(turn -> connect());
    return firstAttempt.future();
  }

  /**
   * Calls the script.
   *
   * @param arguments adds names and arguments, and their number, to a call; may be run twice
   */
  Future<Response> call(Consumer<Request> arguments) {
    return onContext(
        open ->
            open.send(filled(script.callLoaded(), arguments))
                .recover(
                    failure ->
                        StoreFailure.of(failure).kind() == StoreFailure.Kind.SCRIPT_MISSING
                            ? open.send(filled(script.callWithText(), arguments))
                            : Future.failedFuture(failure)));
  }

  private static Request filled(Request request, Consumer<Request> arguments) {
    arguments.accept(request);
    return request;
  }

  Future<Response> send(Request request) {
    return onContext(open -> open.send(request));
  }

  /** Something to be asked of an open connection. */
  private interface Question {
    Future<Response> ask(RedisLink open);
  }

  private Future<Response> onContext(Question question) {
    Promise<Response> answer = Promise.promise();
    context.runOnContext(
        turn ->
            link.filter(RedisLink::isOpen)
                .ifPresentOrElse(
                    open ->
                        question
                            .ask(open)
                            .onSuccess(reply -> answered())
                            .recover(failure -> Future.failedFuture(failed(open, failure)))
                            .onComplete(answer),
                    () -> answer.fail(new StoreAwayException(awayFor, true))));
    return answer.future();
  }

  private void answered() {
    backoff.reset();
    if (lossLogged) {
      lossLogged = false;
      LOG.info("the store of usage answers again");
    }
  }

  private StoreAwayException failed(RedisLink open, Throwable cause) {
    StoreFailure failure = StoreFailure.of(cause);
    // Wherever the slot has gone, and whoever lets us in again, is found by connecting anew.
    if (failure.kind() != StoreFailure.Kind.CALL_FAILED) {
      open.lose(cause);
    }
    return new StoreAwayException(failure.reason(), failure.unsent());
  }

  private void connect() {
    if (!closed) {
      place.get().onComplete(this::connectTo, this::lost);
    }
  }

  private void connectTo(RedisOptions options) {
    if (closed) {
      return;
    }
    RedisLink next = new RedisLink(vertx, options, clock, this::lost);
    link = Optional.of(next);
    next.open(
        script.load(),
        () -> {
          connectedOnce = true;
          firstAttempt.tryComplete();
        });
  }

  private void lost(Throwable cause) {
    if (closed) {
      return;
    }
    StoreFailure failure = StoreFailure.of(cause);
    awayFor = failure.reason();
    if (connectedOnce && !lossLogged) {
      lossLogged = true;
      LOG.warn("no connection to the store of usage: {}; trying again until it answers", awayFor);
    }
    long delay =
        failure.kind() == StoreFailure.Kind.ACCESS_REFUSED
            ? RedisShard.ACCESS_REFUSED_MILLIS
            : Math.max(1, backoff.nextMillis());
    vertx.setTimer(delay, id -> connect());
    firstAttempt.tryFail(new StoreAwayException(awayFor, true));
  }

  Future<Void> close() {
    Promise<Void> ended = Promise.promise();
    context.runOnContext(
        turn -> {
          closed = true;
          awayFor = "closed";
          link.map(open -> open.close(VertxException.noStackTrace(awayFor)))
              .orElseGet(Future::succeededFuture)
              .onComplete(ended);
        });
    return ended.future();
  }
}
