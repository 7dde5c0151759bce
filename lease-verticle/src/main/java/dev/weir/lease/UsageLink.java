package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
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

  private final Context context;
  private final LuaScript script;
  private final HeldLink link;
  private String awayFor = "not connected yet";

  /** Of an attempt before that, the caller of {@link #start} is told. */
  private boolean connectedOnce;

  private boolean lossLogged;

  /**
   * @param place where to connect to, asked each time
   */
  UsageLink(
      Vertx vertx,
      Supplier<Future<RedisOptions>> place,
      LuaScript script,
      Clock clock,
      RandomGenerator random) {
    this.context = vertx.getOrCreateContext();
    this.script = script;
    this.link = new HeldLink(vertx, place, clock, random, new Connection());
  }

  /** Connects, and again for as long as it is not closed; tells of the first attempt. */
  Future<Void> start() {
    Promise<Void> firstAttempt = Promise.promise();
    context.runOnContext(turn -> link.start().onComplete(firstAttempt));
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
            link.open()
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
    link.proved();
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

  /** What becomes of the link. */
  private final class Connection implements HeldLink.Owner {
    @Override
    public Request first() {
      return script.load();
    }

    @Override
    public Future<Void> greet(RedisLink next) {
      return Future.succeededFuture();
    }

    @Override
    public void opened() {
      connectedOnce = true;
    }

    @Override
    public void lost(StoreFailure failure) {
      awayFor = failure.reason();
      if (connectedOnce && !lossLogged) {
        lossLogged = true;
        LOG.warn("no connection to the store of usage: {}; trying again until it answers", awayFor);
      }
    }
  }

  Future<Void> close() {
    Promise<Void> ended = Promise.promise();
    context.runOnContext(
        turn -> {
          awayFor = "closed";
          link.close(awayFor).onComplete(ended);
        });
    return ended.future();
  }
}
