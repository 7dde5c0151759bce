package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.Clock;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.Purpose;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What came on this node of requests that bear an id, so that a repeated one gets the same: at once
 * when it is decided, and with the first when it is not yet. Those of the last minute are known,
 * and of these the latest that there are places for. Safe to use from any thread.
 */
final class OnceOutcomes {
  private static final long LIFE_MICROS = Purpose.Once.LIFE_MILLIS * 1000;

  /** Dropped of what is over when one is added, which so never outgrows what is not. */
  private static final int DROPPED_AT_ONCE = 2;

  private record Id(String key, String id) {
    int places() {
      return KeyRoom.places(key);
    }
  }

  /** By the text of what was asked. */
  private record Made(String request, long untilMicros, Promise<Object> outcome) {}

  private final Vertx vertx;
  private final Clock clock;

  /**
   * In the order in which they were made, and are over. A cache that prefers what is asked for
   * often would drop the latest, which are those that are repeated. Guarded by itself.
   */
  private final Map<Id, Made> made = new LinkedHashMap<>();

  private final int places;

  /** Guarded by {@code made}. */
  private long taken;

  /**
   * @param places see {@link KeyRoom}, 1 or more
   */
  OnceOutcomes(Vertx vertx, Clock clock, int places) {
    this.vertx = vertx;
    this.clock = clock;
    this.places = places;
  }

  /** Tells a request by an id from any other. */
  static Purpose.Once once(CheckRequest request, long cost, String deed) {
    String asked = deed + ' ' + cost + '\n' + request.plan() + '\n' + request.endpoint();
    return new Purpose.Once(request.id(), asked);
  }

  /**
   * What comes of a request, or came of it before. One that is refused is as good as never made.
   *
   * @param ask asks for it
   */
  <T> Future<T> outcome(String key, Purpose.Once once, Class<T> type, Supplier<Future<T>> ask) {
    Id id = new Id(key, once.id());
    long now = clock.micros();
    Made mine = new Made(once.request(), now + LIFE_MICROS, Promise.promise());
    Optional<Made> first = firstOrAdd(id, mine, now);
    if (first.isPresent()) {
      return first.get().request.equals(once.request())
          ? here(first.get().outcome.future()).map(type::cast)
          : Future.failedFuture(CheckRefusedException.reusedId());
    }
    Future<T> outcome;
    try {
      outcome = ask.get();
    } catch (RuntimeException fault) {
      outcome = Future.failedFuture(fault);
    }
    return outcome.onComplete(
        mine.outcome::complete,
        failure -> {
          synchronized (made) {
            if (made.remove(id, mine)) {
              taken -= id.places();
            }
          }
          mine.outcome.fail(failure);
        });
  }

  /**
   * Refuses a request whose id was used with another one.
   *
   * @throws CheckRefusedException with code 422
   */
  void requireSame(String key, Purpose.Once once) {
    Optional<Made> first;
    synchronized (made) {
      first = first(new Id(key, once.id()), clock.micros());
    }
    if (first.filter(known -> !known.request.equals(once.request())).isPresent()) {
      throw CheckRefusedException.reusedId();
    }
  }

  private Optional<Made> first(Id id, long nowMicros) {
    return Optional.ofNullable(made.get(id)).filter(known -> nowMicros < known.untilMicros);
  }

  /** What is known of {@code id}; {@code mine} is known from now on if that is nothing. */
  private Optional<Made> firstOrAdd(Id id, Made mine, long nowMicros) {
    synchronized (made) {
      Optional<Made> first = first(id, nowMicros);
      if (first.isEmpty()) {
        // One that is over goes to the end.
        if (made.remove(id) == null) {
          taken += id.places();
        }
        made.put(id, mine);
        dropEldest(nowMicros);
      }
      return first;
    }
  }

  /** All but the latest may go. */
  private void dropEldest(long nowMicros) {
    Iterator<Map.Entry<Id, Made>> eldest = made.entrySet().iterator();
    for (int i = 0; made.size() > 1 && (taken > places || i < DROPPED_AT_ONCE); i++) {
      Map.Entry<Id, Made> next = eldest.next();
      if (taken <= places && nowMicros < next.getValue().untilMicros) {
        return;
      }
      eldest.remove();
      taken -= next.getKey().places();
    }
  }

  /** What another asker waits for, on the context of this one. */
  private Future<Object> here(Future<Object> outcome) {
    if (outcome.isComplete()) {
      return outcome;
    }
    Context context = vertx.getOrCreateContext();
    Promise<Object> again = Promise.promise();
    outcome.onComplete(
        told -> context.runOnContext(turn -> again.complete(told)),
        failure -> context.runOnContext(turn -> again.fail(failure)));
    return again.future();
  }
}
