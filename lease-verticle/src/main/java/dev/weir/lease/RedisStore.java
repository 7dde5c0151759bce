package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.config.TokenBucket;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A store on one Redis. */
final class RedisStore implements Store {
  private static final int WARM_UP_CALLS = 300;
  private static final long WARM_UP_MICROS = 300_000;
  private static final Limit WARM_UP_LIMIT =
      new Limit(Limit.DEFAULT_NAME, Set.of(), new TokenBucket(1, Duration.ofSeconds(1), 1));
  private static final Refill WARM_UP =
      new Refill(StoreKeys.WARM_UP, List.of(Take.peek(WARM_UP_LIMIT)));

  private final StoreKeys keys;
  private final RefillScript script;
  private final RedisShard shard;
  private final Clock clock;

  RedisStore(StoreKeys keys, RefillScript script, RedisShard shard, Clock clock) {
    this.keys = keys;
    this.script = script;
    this.shard = shard;
    this.clock = clock;
  }

  @Override
  public List<Future<RefillOutcome>> refill(List<Refill> batch) {
    List<Future<RefillOutcome>> outcomes = new ArrayList<>(batch.size());
    for (Refill refill : batch) {
      outcomes.add(shard.refill(script.step(keys, StoreKeys.escape(refill.key()), refill)));
    }
    return outcomes;
  }

  @Override
  public Future<Void> forget(String key, List<String> limitNames) {
    if (limitNames.isEmpty()) {
      return Future.succeededFuture();
    }
    String escaped = StoreKeys.escape(key);
    Request del = Request.cmd(Command.DEL);
    limitNames.forEach(limit -> del.arg(keys.level(escaped, limit)));
    return shard.send(del).mapEmpty();
  }

  @Override
  public boolean immediate() {
    return false;
  }

  @Override
  public boolean healthy() {
    return shard.isConnected();
  }

  @Override
  public Future<Void> start() {
    return shard.start().compose(connected -> warmUp(WARM_UP_CALLS, clock.micros()));
  }

  /**
   * Looks at a name that no key has, again and again, until the way there and back is compiled: the
   * first hundred calls of a cold process take longer than callers wait.
   */
  private Future<Void> warmUp(int calls, long sinceMicros) {
    if (calls == 0 || clock.micros() - sinceMicros > WARM_UP_MICROS) {
      return Future.succeededFuture();
    }
    return shard
        .refill(script.step(keys, StoreKeys.WARM_UP, WARM_UP))
        .compose(outcome -> warmUp(calls - 1, sinceMicros));
  }

  @Override
  public Future<Void> close() {
    return shard.close();
  }
}
