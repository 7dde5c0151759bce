package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Makes the store that a URL names. */
public final class Stores {
  private Stores() {}

  /**
   * A store, not yet started.
   *
   * @param prefix of all names in the store
   * @param accountingWindow over which authorized units are counted
   * @param timeout how long callers wait for an answer; a Redis that keeps them waiting longer is
   *     left alone for a while
   * @throws IllegalArgumentException if the prefix cannot be one, or there is no store for such a
   *     URL
   */
  public static Store open(
      StoreUrl url,
      String prefix,
      Duration accountingWindow,
      Duration timeout,
      Vertx vertx,
      Clock clock,
      MeterRegistry registry) {
    StoreKeys keys = new StoreKeys(prefix);
    AccountingWindow window = AccountingWindow.of(accountingWindow);
    if (url instanceof StoreUrl.Embedded) {
      return new EmbeddedStore(window, clock);
    }
    RefillScript script =
        new RefillScript(RefillScript.shipped(), keys, window, new StoreClock(clock));
    RandomGenerator random = RandomGenerator.getDefault();
    return redis(
        url,
        new StoreContext(vertx, script, new StoreEpochs(random), timeout, clock, random, registry));
  }

  /** A store on the Redis that {@code url} names in any form. */
  static Store redis(StoreUrl url, StoreContext context) {
    return new RedisStore(context.script(), nodes(url, context), context.clock());
  }

  private static RedisNodes nodes(StoreUrl url, StoreContext context) {
    if (url instanceof StoreUrl.Standalone one) {
      RedisAccess access = new RedisAccess(one.tls(), one.credentials(), one.database());
      Future<RedisOptions> place = Future.succeededFuture(access.to(one.address()));
      return single(context, () -> place, one.address().toString());
    }
    if (url instanceof StoreUrl.Sentinel sentinel) {
      RedisAccess access = new RedisAccess(false, sentinel.credentials(), 0);
      SentinelMaster master = new SentinelMaster(context.vertx(), sentinel);
      return single(context, () -> master.find().map(access::to), sentinel.master());
    }
    if (url instanceof StoreUrl.Cluster cluster) {
      RedisAccess access = new RedisAccess(false, cluster.credentials(), 0);
      return new ClusterNodes(
          context.vertx(),
          cluster.seeds(),
          new RedisInquiry(context.vertx(), access),
          (address, onTrouble) -> {
            Future<RedisOptions> place = Future.succeededFuture(access.to(address));
            return new RedisShard(
                context,
                () -> place,
                address.toString(),
                RedisShard.Window.CLUSTER,
                SlotMap::tagOf,
                onTrouble);
          },
          context.random());
    }
    throw new IllegalArgumentException(url + " is no Redis");
  }

  private static RedisNodes single(
      StoreContext context, Supplier<Future<RedisOptions>> place, String name) {
    return new SingleNode(
        new RedisShard(
            context,
            place,
            name,
            RedisShard.Window.ONE_NODE,
            slot -> StoreKeys.EPOCH_TAG,
            () -> {}));
  }
}
