package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.TokenBucket;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** A store on Redis. */
final class RedisStore implements Store {
  private static final int WARM_UP_CALLS = 300;
  private static final long WARM_UP_MICROS = 300_000;
  private static final Limit WARM_UP_LIMIT =
      new Limit(Limit.DEFAULT_NAME, Set.of(), new TokenBucket(1, Duration.ofSeconds(1), 1));
  private static final Refill WARM_UP =
      new Refill(StoreKeys.WARM_UP, List.of(Take.peek(WARM_UP_LIMIT)));

  private final RefillScript script;
  private final RedisNodes nodes;
  private final StoreEpochs epochs;
  private final Clock clock;

  RedisStore(RefillScript script, RedisNodes nodes, StoreEpochs epochs, Clock clock) {
    this.script = script;
    this.nodes = nodes;
    this.epochs = epochs;
    this.clock = clock;
  }

  @Override
  public List<Future<RefillOutcome>> refill(List<Refill> batch) {
    List<Future<RefillOutcome>> outcomes = new ArrayList<>(batch.size());
    for (Refill refill : batch) {
      String tag = StoreKeys.tag(refill.key(), refill.shard());
      outcomes.add(nodes.refill(tag, epoch -> script.step(tag, refill, epoch)));
    }
    return outcomes;
  }

  @Override
  public Future<Void> forget(String key, Shard shard, List<String> limitNames) {
    if (limitNames.isEmpty()) {
      return Future.succeededFuture();
    }
    String tag = StoreKeys.tag(key, shard);
    return nodes
        .refill(tag, epoch -> script.forgetting(tag, limitNames))
        .compose(
            outcome ->
                outcome instanceof RefillOutcome.Unavailable unavailable
                    ? Future.failedFuture(
                        new StoreAwayException(unavailable.reason(), unavailable.unsent()))
                    : Future.succeededFuture());
  }

  @Override
  public boolean immediate() {
    return false;
  }

  @Override
  public boolean healthy() {
    return nodes.isHealthy();
  }

  @Override
  public void onLoss(Consumer<String> listener) {
    epochs.onEnd(listener);
  }

  @Override
  public Future<Void> start() {
    return nodes.start().compose(connected -> warmUp(WARM_UP_CALLS, clock.micros()));
  }

  /**
   * Looks at a name that no key has, again and again, until the way there and back is compiled: the
   * first hundred calls of a cold process take longer than callers wait.
   */
  private Future<Void> warmUp(int calls, long sinceMicros) {
    if (calls == 0 || clock.micros() - sinceMicros > WARM_UP_MICROS) {
      return Future.succeededFuture();
    }
    return nodes
        .refill(StoreKeys.WARM_UP, epoch -> script.step(StoreKeys.WARM_UP, WARM_UP, epoch))
        .compose(outcome -> warmUp(calls - 1, sinceMicros));
  }

  @Override
  public Future<Void> close() {
    return nodes.close();
  }
}
