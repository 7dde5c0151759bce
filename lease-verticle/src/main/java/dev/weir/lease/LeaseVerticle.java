package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.config.Shard;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the {@link RefillQueue} to an event loop and to the store. Deploy one instance; its
 * store is closed with it.
 */
public final class LeaseVerticle extends VerticleBase {

  private static final Logger log = LoggerFactory.getLogger(LeaseVerticle.class);

  /** How finely deadlines are watched; a timer per refill would cost more than the refill. */
  private static final long TICK_MILLIS = 1;

  private static final long FORGET_MILLIS = 1_000;

  private final Store store;
  private final Clock clock;
  private final StoreClock storeClock;
  private final Duration timeout;
  private final MeterRegistry registry;
  private Refills refills;

  /** Unused with a store that answers at once. */
  private RefillQueue queue;

  private boolean ticking;

  /**
   * @param timeout the deadline of a refill, from the moment it is wanted
   */
  public LeaseVerticle(
      Store store, Clock clock, StoreClock storeClock, Duration timeout, MeterRegistry registry) {
    this.store = store;
    this.clock = clock;
    this.storeClock = storeClock;
    this.timeout = timeout;
    this.registry = registry;
  }

  @Override
  public Future<?> start() {
    RefillMeters meters = new RefillMeters(registry);
    refills =
        store.immediate() ? new ImmediateRefills(store, clock, storeClock, meters) : queue(meters);
    return store
        .start()
        .recover(
            failure -> {
              log.warn("the store is out of reach, going on without it: {}", failure.getMessage());
              return Future.succeededFuture();
            });
  }

  private RefillQueue queue(RefillMeters meters) {
    queue =
        new RefillQueue(
            store,
            clock,
            storeClock,
            timeout.toNanos() / 1000,
            task ->
                context.runOnContext(
                    ignored -> {
                      task.run();
                      tick();
                    }),
            meters);
    return queue;
  }

  /**
   * Has the store forget what {@code key} has used of {@code limits}. Safe to use from any thread
   * once deployed.
   *
   * @return a future that fails with {@link StoreAwayException} if the store does not say within a
   *     second that it has; of limits that are divided it may then have forgotten some sub-counters
   */
  public Future<Void> forget(String key, Collection<Limit> limits) {
    Promise<Void> forgotten = Promise.promise();
    context.runOnContext(
        ignored -> {
          long timer =
              vertx.setTimer(
                  FORGET_MILLIS,
                  id ->
                      forgotten.tryFail(
                          new StoreAwayException(
                              "no answer within " + FORGET_MILLIS + " ms", false)));
          Future.all(forgotten(key, limits))
              .onComplete(
                  done -> {
                    vertx.cancelTimer(timer);
                    if (done.succeeded()) {
                      forgotten.tryComplete();
                    } else {
                      forgotten.tryFail(done.cause());
                    }
                  });
        });
    return forgotten.future();
  }

  private List<Future<Void>> forgotten(String key, Collection<Limit> limits) {
    Map<Shard, Set<String>> names = new HashMap<>();
    for (Limit limit : limits) {
      for (Shard counter : limit.shard().counters()) {
        names.computeIfAbsent(counter, made -> new TreeSet<>()).add(limit.name());
      }
    }
    List<Future<Void>> forgotten = new ArrayList<>();
    names.forEach((shard, of) -> forgotten.add(store.forget(key, shard, List.copyOf(of))));
    return forgotten;
  }

  @Override
  public Future<?> stop() {
    return store.close();
  }

  /** Where refills are handed in. Valid once deployed. */
  public Refills refills() {
    return refills;
  }

  /** Watches deadlines while there are any. */
  private void tick() {
    if (ticking || !queue.expire()) {
      return;
    }
    ticking = true;
    vertx.setTimer(
        TICK_MILLIS,
        ignored -> {
          ticking = false;
          tick();
        });
  }
}
