package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * One Redis, kept connected: one {@link RedisLink} after another, with growing, jittered delays
 * between them, for as long as it is not closed. Owned by the context on which it is started.
 */
final class HeldLink {

  /**
   * How long to wait after a refused login, at least; as much again at random. Each leaves an entry
   * in the server's log of refusals, and only a person can mend it.
   */
  static final int ACCESS_REFUSED_MILLIS = 5_000;

  /** Whose link it is. */
  interface Owner {

    /** What a link is asked first of all. */
    Request first();

    /** Asks what else there is to ask before {@code link} is used; it is lost if that fails. */
    Future<Void> greet(RedisLink link);

    /** There is a link. */
    void opened();

    /** There is none, or none any more. */
    void lost(StoreFailure failure);
  }

  private final Vertx vertx;
  private final Supplier<Future<RedisOptions>> place;
  private final Clock clock;
  private final RandomGenerator random;
  private final Owner owner;
  private final Backoff backoff;
  private final Promise<Void> firstAttempt = Promise.promise();
  private Optional<RedisLink> link = Optional.empty();
  private boolean closed;

  /**
   * @param place where to connect to, asked each time
   */
  HeldLink(
      Vertx vertx,
      Supplier<Future<RedisOptions>> place,
      Clock clock,
      RandomGenerator random,
      Owner owner) {
    this.vertx = vertx;
    this.place = place;
    this.clock = clock;
    this.random = random;
    this.owner = owner;
    this.backoff = new Backoff(random);
  }

  /**
   * Connects; tells of the first attempt, and fails with {@link StoreAwayException}, also if it is
   * closed before.
   */
  Future<Void> start() {
    connect();
    return firstAttempt.future();
  }

  /** The link, if it is open. */
  Optional<RedisLink> open() {
    return link.filter(RedisLink::isOpen);
  }

  /** A server that lets us in may still refuse to serve; only an answer proves that it does. */
  void proved() {
    backoff.reset();
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
    next.open(owner.first(), () -> owner.greet(next).onComplete(done -> opened(next), next::lose));
  }

  private void opened(RedisLink next) {
    if (next.isOpen()) {
      owner.opened();
      firstAttempt.tryComplete();
    }
  }

  private void lost(Throwable cause) {
    if (closed) {
      return;
    }
    StoreFailure failure = StoreFailure.of(cause);
    long delay =
        failure.kind() == StoreFailure.Kind.ACCESS_REFUSED
            ? ACCESS_REFUSED_MILLIS + random.nextInt(ACCESS_REFUSED_MILLIS)
            : Math.max(1, backoff.nextMillis());
    vertx.setTimer(delay, id -> connect());
    owner.lost(failure);
    firstAttempt.tryFail(new StoreAwayException(failure.reason(), true));
  }

  /** Ends the link; {@code reason} is what calls in flight are told. */
  Future<Void> close(String reason) {
    closed = true;
    firstAttempt.tryFail(new StoreAwayException(reason, true));
    return link.map(held -> held.close(VertxException.noStackTrace(reason)))
        .orElseGet(Future::succeededFuture);
  }
}
