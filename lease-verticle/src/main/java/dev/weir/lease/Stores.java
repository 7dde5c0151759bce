package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.FunctionCounter;
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
   * @param room of a store in the heap
   * @throws IllegalArgumentException if the prefix cannot be one, or there is no store for such a
   *     URL
   */
  public static Store open(
      StoreUrl url,
      String prefix,
      Duration accountingWindow,
      Duration timeout,
      KeyRoom room,
      Vertx vertx,
      Clock clock,
      MeterRegistry registry) {
    StoreKeys keys = new StoreKeys(prefix);
    AccountingWindow window = AccountingWindow.of(accountingWindow);
    Store store;
    if (url instanceof StoreUrl.Embedded) {
      store = new EmbeddedStore(window, clock, room);
    } else {
      RefillScript script =
          new RefillScript(RefillScript.shipped(), keys, window, new StoreClock(clock));
      RandomGenerator random = RandomGenerator.getDefault();
      StoreEpochs epochs = new StoreEpochs(random);
      store = redis(url, new StoreContext(vertx, script, epochs, timeout, clock, random, registry));
    }
    FunctionCounter.builder("weir.store.dropped", store, Stores::dropped)
        .description("Levels of keys that the embedded store had no room for, and forgot")
        .register(registry);
    return store;
  }

  /** There on every node, so that one set of alerts and dashboards is for all. */
  private static double dropped(Store store) {
    return store instanceof EmbeddedStore embedded ? embedded.droppedCount() : 0;
  }

  /** A store on the Redis that {@code url} names in any form. */
  static Store redis(StoreUrl url, StoreContext context) {
    return new RedisStore(context.script(), nodes(url, context), context.epochs(), context.clock());
  }

  /**
   * Where usage is added up, not yet started.
   *
   * @param prefix of all names in the store
   * @param room of a store in the heap
   * @throws IllegalArgumentException if the prefix cannot be one
   */
  public static UsageStore openUsage(
      StoreUrl url, String prefix, KeyRoom room, Vertx vertx, Clock clock, MeterRegistry registry) {
    if (url instanceof StoreUrl.Embedded) {
      return new EmbeddedUsageStore(clock, room.recent());
    }
    UsageScript script = new UsageScript(prefix);
    LuaScript text = LuaScript.of(UsageScript.shipped());
    return new RedisUsageStore(usageLink(url, script, text, vertx, clock), script, clock, registry);
  }

  /**
   * A reader who shares what there is with all others of its group, not yet started.
   *
   * @param consumer its name in the group, which no two readers have at once
   * @param forgettable whether nobody will come under that name again
   * @throws IllegalArgumentException if there is no stream of usage in such a store
   */
  public static UsageReader openReader(
      StoreUrl url,
      String prefix,
      String group,
      String consumer,
      boolean forgettable,
      Vertx vertx,
      Clock clock) {
    UsageScript script = new UsageScript(prefix);
    return new GroupUsageReader(
        vertx,
        usageLink(url, script, LuaScript.of(UsageScript.shipped()), vertx, clock),
        script,
        group,
        consumer,
        forgettable,
        GroupUsageReader.LEFT_BEHIND,
        clock);
  }

  /**
   * A reader who only looks, and takes nothing from others, not yet started.
   *
   * @throws IllegalArgumentException if there is no stream of usage in such a store
   */
  public static UsageReader openLookingReader(
      StoreUrl url, String prefix, Vertx vertx, Clock clock) {
    UsageScript script = new UsageScript(prefix);
    return new LookingUsageReader(
        usageLink(url, script, LuaScript.of(UsageScript.shipped()), vertx, clock), script);
  }

  /** A connection to the Redis that has the names of usage. */
  static UsageLink usageLink(
      StoreUrl url, UsageScript script, LuaScript text, Vertx vertx, Clock clock) {
    return new UsageLink(
        vertx, home(url, vertx, script.stream()), text, clock, RandomGenerator.getDefault());
  }

  /** Where the master is that has all names with the hash tag. */
  private static Supplier<Future<RedisOptions>> home(StoreUrl url, Vertx vertx, String hashTag) {
    if (url instanceof StoreUrl.Cluster cluster) {
      RedisAccess access = access(cluster);
      RedisInquiry inquiry = new RedisInquiry(vertx, access);
      int slot = SlotMap.slotOf(hashTag);
      return () ->
          inquiry
              .ask(cluster.seeds(), SlotMap.question(), SlotMap::read)
              .map(slots -> access.to(slots.master(slot).orElseThrow(() -> unserved(slot))));
    }
    return place(url, vertx);
  }

  private static StoreAwayException unserved(int slot) {
    return new StoreAwayException("no node of the cluster serves slot " + slot, true);
  }

  /** Where the one master is of a store that is no cluster. */
  private static Supplier<Future<RedisOptions>> place(StoreUrl url, Vertx vertx) {
    if (url instanceof StoreUrl.Standalone one) {
      RedisAccess access = new RedisAccess(one.tls(), one.credentials(), one.database());
      Future<RedisOptions> place = Future.succeededFuture(access.to(one.address()));
      return () -> place;
    }
    if (url instanceof StoreUrl.Sentinel sentinel) {
      RedisAccess access = new RedisAccess(sentinel.tls(), sentinel.credentials(), 0);
      SentinelMaster master = new SentinelMaster(vertx, sentinel);
      return () -> master.find().map(access::to);
    }
    throw new IllegalArgumentException(url + " is no Redis");
  }

  private static RedisAccess access(StoreUrl.Cluster cluster) {
    return new RedisAccess(cluster.tls(), cluster.credentials(), 0);
  }

  private static RedisNodes nodes(StoreUrl url, StoreContext context) {
    if (url instanceof StoreUrl.Cluster cluster) {
      RedisAccess access = access(cluster);
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
    String name =
        url instanceof StoreUrl.Standalone one
            ? one.address().toString()
            : url instanceof StoreUrl.Sentinel sentinel ? sentinel.master() : "";
    return single(context, place(url, context.vertx()), name);
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
