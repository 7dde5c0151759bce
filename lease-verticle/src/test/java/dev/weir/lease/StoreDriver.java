package dev.weir.lease;

import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.TokenBucket;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Repeated;
import dev.weir.lease.RefillOutcome.Settled;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.awaitility.Awaitility;

/** Calls a store on its context, from a test's thread, which waits for the outcome. */
final class StoreDriver implements AutoCloseable {

  /** Told that these refills come next. */
  interface BeforeRefill extends AutoCloseable {
    void prepare(List<Refill> batch);

    @Override
    default void close() {}
  }

  /** Of a store's callers; longer than a busy machine keeps an answer. */
  static final Duration TIMEOUT = Duration.ofSeconds(2);

  /** More than a test needs. */
  static final KeyRoom ROOM = new KeyRoom(1_000_000, 1_000_000, 100_000);

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Context context;
  private final Store store;
  private final BeforeRefill before;

  StoreDriver(Vertx vertx, Store store, BeforeRefill before) {
    this.context = vertx.getOrCreateContext();
    this.store = store;
    this.before = before;
  }

  StoreDriver(Vertx vertx, Store store) {
    this(vertx, store, batch -> {});
  }

  static Limit limit(double rate, Duration period, long capacity) {
    return limit("default", rate, period, capacity);
  }

  static Limit limit(String name, double rate, Duration period, long capacity) {
    return new Limit(name, Set.of(), new TokenBucket(rate, period, capacity));
  }

  /** Exactly {@code cost} permits, or none. */
  static Take take(Limit limit, long cost) {
    return new Take(limit, 0, 0, cost, cost);
  }

  Store store() {
    return store;
  }

  /** Starts the store, however often it has to try on a busy machine. */
  StoreDriver start() {
    await(on(store::start).otherwiseEmpty());
    Awaitility.await().atMost(PATIENCE).until(store::healthy);
    return this;
  }

  /** Starts the store, whose first attempt may fail. */
  void startAtOnce() {
    await(on(store::start));
  }

  List<RefillOutcome> refill(List<Refill> batch) {
    before.prepare(batch);
    return await(on(() -> Future.all(store.refill(batch)).map(all -> all.<RefillOutcome>list())));
  }

  /** What comes of a refill, as of a store that has but one epoch. */
  RefillOutcome refillInAnyEpoch(Refill refill) {
    RefillOutcome outcome = refill(List.of(refill)).get(0);
    if (outcome instanceof Answered answer) {
      return inAnyEpoch(answer);
    }
    return outcome instanceof Repeated again
        ? new Repeated(inAnyEpoch(again.first()), again.reservation())
        : outcome;
  }

  private static Answered inAnyEpoch(Answered answer) {
    return new Answered(answer.storeMicros(), answer.levels());
  }

  List<Level> step(String key, Take... takes) {
    return answer(key, takes).levels();
  }

  Answered answer(String key, Take... takes) {
    return (Answered) refill(List.of(new Refill(key, List.of(takes)))).get(0);
  }

  /** Makes a step for {@code purpose}. */
  RefillOutcome step(String key, Purpose purpose, Take... takes) {
    return refill(List.of(new Refill(key, List.of(takes), purpose))).get(0);
  }

  /** Takes for a reservation; its levels. */
  List<Level> reserve(String key, String id, Duration life, Take... takes) {
    Purpose.Reservation reservation = new Purpose.Reservation(id, life);
    Purpose purpose = new Purpose.Decide(Optional.of(reservation), Optional.empty());
    return ((Answered) step(key, purpose, takes)).levels();
  }

  Settled settle(String key, String id, long spent) {
    return (Settled) step(key, new Purpose.Settle(id, spent));
  }

  /** Takes {@code cost} permits of the one limit; how many were granted. */
  long granted(String key, Limit limit, long cost) {
    return step(key, take(limit, cost)).get(0).granted();
  }

  double used(String key, Limit limit) {
    return step(key, Take.peek(limit)).get(0).used();
  }

  void forget(String key, Shard shard, String... limits) {
    before.prepare(List.of(new Refill(key, shard, List.of(), new Purpose.Lease())));
    await(on(() -> store.forget(key, shard, List.of(limits))));
  }

  void forget(String key, String... limits) {
    forget(key, Shard.WHOLE, limits);
  }

  <T> Future<T> on(Supplier<Future<T>> action) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(turn -> action.get().onComplete(promise));
    return promise.future();
  }

  static <T> T await(Future<T> future) {
    try {
      return future.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("no outcome", e);
    }
  }

  @Override
  public void close() {
    await(on(store::close));
    before.close();
  }
}
