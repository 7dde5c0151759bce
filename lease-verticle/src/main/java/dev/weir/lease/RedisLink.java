package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One connection to one Redis, from connecting to its loss; never used again after that.
 *
 * <p>Held, not taken from a pool: a pool hands out one connection per command in flight and does
 * not pipeline. The client sets no time limit on a command and a hung socket looks like a slow one,
 * so a watchdog gives the connection up when a call is in flight and nothing has come back for too
 * long; a server that is slow, yet answers, is no reason. Only closing the whole client ends such a
 * socket; closing the connection would give it back to the pool. Hence one client per link.
 *
 * <p>Owned by the context on which {@link #open} is called. Whatever arrives after the loss finds
 * its call settled and does nothing.
 */
final class RedisLink {
  private static final long OPEN_DEADLINE_MILLIS = 5000;
  private static final long SILENCE_MICROS = 500_000;
  private static final long LOOK_MILLIS = 100;

  private record Call(long startedMicros, Promise<Response> reply) {}

  private enum State {
    CONNECTING,
    OPEN,
    LOST
  }

  private final Vertx vertx;
  private final Clock clock;
  private final Redis client;
  private final Consumer<Throwable> onLost;
  private final Deque<Call> inFlight = new ArrayDeque<>();
  private State state = State.CONNECTING;
  private Optional<RedisConnection> connection = Optional.empty();
  private long timer;
  private long lookedMicros;
  private long repliedMicros;

  /**
   * @param onLost told once why the link was lost, before the calls in flight fail
   */
  RedisLink(Vertx vertx, RedisOptions options, Clock clock, Consumer<Throwable> onLost) {
    this.vertx = vertx;
    this.clock = clock;
    this.client = Redis.createClient(vertx, options);
    this.onLost = onLost;
  }

  /** Connects and makes {@code first}; the link is lost when that fails. */
  void open(Request first, Runnable onOpen) {
    timer =
        vertx.setTimer(
            OPEN_DEADLINE_MILLIS,
            id -> lose(VertxException.noStackTrace("no answer to the first call")));
    client
        .connect()
        .onSuccess(
            connected -> {
              if (state == State.LOST) {
                return;
              }
              connection = Optional.of(connected);
              connected.exceptionHandler(this::lose);
              connected.endHandler(
                  end -> lose(VertxException.noStackTrace("closed by the server")));
              send(first)
                  .onSuccess(
                      done -> {
                        opened();
                        onOpen.run();
                      })
                  .onFailure(this::lose);
            })
        .onFailure(this::lose);
  }

  private void opened() {
    state = State.OPEN;
    vertx.cancelTimer(timer);
    lookedMicros = clock.micros();
    timer = vertx.setPeriodic(LOOK_MILLIS, id -> look());
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  /** Sends a request behind those before it. */
  Future<Response> send(Request request) {
    if (state == State.LOST || connection.isEmpty()) {
      return Future.failedFuture(StoreFailure.NEVER_WRITTEN);
    }
    // Without a context of its own, so that it settles within the event that settles it.
    Call call = new Call(clock.micros(), Promise.promise());
    inFlight.add(call);
    connection
        .get()
        .send(request)
        .onComplete(
            reply -> {
              replied(call);
              call.reply.tryComplete(reply);
            },
            failure -> {
              replied(call);
              call.reply.tryFail(failure);
            });
    return call.reply.future();
  }

  private void replied(Call call) {
    inFlight.remove(call);
    repliedMicros = clock.micros();
  }

  private void look() {
    long now = clock.micros();
    long sinceLook = now - lookedMicros;
    lookedMicros = now;
    // A late look means that this process stood still; the answer may wait in the socket.
    if (sinceLook > 2 * LOOK_MILLIS * 1000 || inFlight.isEmpty()) {
      return;
    }
    if (now - Math.max(inFlight.peek().startedMicros, repliedMicros) > SILENCE_MICROS) {
      lose(VertxException.noStackTrace("no answer for " + SILENCE_MICROS / 1000 + " ms"));
    }
  }

  /** Gives the connection up; calls in flight fail with {@code cause}, their outcome unknown. */
  void lose(Throwable cause) {
    if (state == State.LOST) {
      return;
    }
    state = State.LOST;
    onLost.accept(cause);
    // There is nothing left to do should even closing fail.
    close(cause);
  }

  /** Ends the connection and tells nobody but the callers in flight. */
  Future<Void> close(Throwable cause) {
    state = State.LOST;
    vertx.cancelTimer(timer);
    Future<Void> closed = client.close();
    for (Call call = inFlight.poll(); call != null; call = inFlight.poll()) {
      call.reply.tryFail(cause);
    }
    return closed;
  }
}
