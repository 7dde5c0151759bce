package dev.weir.lease;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The masters of a Redis Cluster, each with a connection of its own, so that one that is down or
 * hung concerns only the keys that it has.
 *
 * <p>The map of slots is learnt at the start, whenever a node says that a slot is elsewhere, and
 * again and again while a node is not healthy, since its slots may have gone to another.
 */
final class ClusterNodes implements RedisNodes {
  /** Between two looks at the map, at least; as much again at random. */
  private static final int PAUSE_MILLIS = 200;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterNodes.class);

  private final Vertx vertx;
  private final List<StoreUrl.Address> seeds;
  private final RedisInquiry inquiry;
  private final BiFunction<StoreUrl.Address, Runnable, RedisShard> shardOf;
  private final RandomGenerator random;
  private final Promise<Void> firstLook = Promise.promise();
  private SlotMap slots = SlotMap.EMPTY;
  private boolean looking;
  private boolean lookWanted;
  private boolean closed;
  private volatile Map<StoreUrl.Address, RedisShard> shards = Map.of();

  /**
   * @param shardOf makes the shard of an address; the shard runs the given action when it loses its
   *     connection, is left alone, or is asked for a slot that it does not have
   */
  ClusterNodes(
      Vertx vertx,
      List<StoreUrl.Address> seeds,
      RedisInquiry inquiry,
      BiFunction<StoreUrl.Address, Runnable, RedisShard> shardOf,
      RandomGenerator random) {
    this.vertx = vertx;
    this.seeds = seeds;
    this.inquiry = inquiry;
    this.shardOf = shardOf;
    this.random = random;
  }

  @Override
  public Future<Void> start() {
    look();
    return firstLook.future();
  }

  @Override
  public boolean isHealthy() {
    Map<StoreUrl.Address, RedisShard> known = shards;
    return !known.isEmpty() && known.values().stream().allMatch(RedisShard::isHealthy);
  }

  @Override
  public Future<RefillOutcome> refill(String tag, Errand errand) {
    int slot = SlotMap.slotOf(tag);
    Optional<RedisShard> shard = shard(slot);
    if (shard.isEmpty()) {
      return Future.succeededFuture(new RefillOutcome.Unavailable(unserved(slot), true));
    }
    return shard.get().refill(slot, errand);
  }

  private Optional<RedisShard> shard(int slot) {
    return slots.master(slot).flatMap(master -> Optional.ofNullable(shards.get(master)));
  }

  private static String unserved(int slot) {
    return "no node of the cluster is known to serve slot " + slot;
  }

  private void look() {
    lookWanted = true;
    if (looking || closed) {
      return;
    }
    looking = true;
    lookWanted = false;
    inquiry
        .ask(servers(), SlotMap.question(), SlotMap::read)
        .onComplete(
            map -> {
              learn(map);
              pause(PAUSE_MILLIS);
            },
            cause -> {
              StoreFailure failure = StoreFailure.of(cause);
              // Said once; from then on the metric says it.
              if (firstLook.tryFail(VertxException.noStackTrace(failure.reason()))) {
                LOG.warn("cluster not reached: {}; trying again until it is", failure.reason());
              }
              boolean refused = failure.kind() == StoreFailure.Kind.ACCESS_REFUSED;
              pause(refused ? HeldLink.ACCESS_REFUSED_MILLIS : PAUSE_MILLIS);
            });
  }

  private void pause(int millis) {
    vertx.setTimer(
        millis + random.nextInt(millis),
        id -> {
          looking = false;
          if (lookWanted || !isHealthy()) {
            look();
          }
        });
  }

  /** Whom to ask: healthy masters first, in any order, since one of them may know old things. */
  private List<StoreUrl.Address> servers() {
    List<StoreUrl.Address> healthy = new ArrayList<>();
    shards.forEach(
        (address, shard) -> {
          if (shard.isHealthy()) {
            healthy.add(address);
          }
        });
    Collections.shuffle(healthy, new Random(random.nextLong()));
    Set<StoreUrl.Address> servers = new LinkedHashSet<>(healthy);
    servers.addAll(seeds);
    return List.copyOf(servers);
  }

  private void learn(SlotMap map) {
    if (closed) {
      return;
    }
    Map<StoreUrl.Address, RedisShard> before = shards;
    Map<StoreUrl.Address, RedisShard> now = new HashMap<>();
    List<RedisShard> fresh = new ArrayList<>();
    for (StoreUrl.Address master : map.masters()) {
      RedisShard known = before.get(master);
      RedisShard shard = known != null ? known : shardOf.apply(master, this::look);
      if (known == null) {
        fresh.add(shard);
      }
      now.put(master, shard);
    }
    slots = map;
    shards = Map.copyOf(now);
    Future.all(fresh.stream().map(RedisShard::start).toList())
        .<Void>mapEmpty()
        .onComplete(firstLook::tryComplete, firstLook::tryFail);
    before.forEach(
        (master, shard) -> {
          if (!now.containsKey(master)) {
            LOG.info("{} is no longer a master of the cluster", master);
            shard.close().onFailure(e -> LOG.warn("closing {}: {}", master, e.getMessage()));
          }
        });
  }

  @Override
  public Future<Void> close() {
    closed = true;
    return Future.all(shards.values().stream().map(RedisShard::close).toList()).mapEmpty();
  }
}
