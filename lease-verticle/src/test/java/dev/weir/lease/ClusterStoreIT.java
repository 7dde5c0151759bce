package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Unavailable;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store on a Redis Cluster of three masters. */
final class ClusterStoreIT extends StoreContract {
  private static final Limit WIDE = limit(1, Duration.ofSeconds(1), 1_000_000_000_000L);

  private static RedisCluster cluster;

  @BeforeAll
  static void startCluster() {
    cluster = RedisCluster.start(3, false);
  }

  @AfterAll
  static void closeCluster() {
    cluster.close();
  }

  @BeforeEach
  void startEmpty() {
    cluster.masters().forEach(master -> master.call("FLUSHALL"));
  }

  @Override
  StoreDriver open(String prefix) {
    return RedisTime.store(
        vertx, StoreUrl.parse(cluster.url()), new ClusterCommands(cluster), time, prefix);
  }

  @Test
  void keysAreSpreadOverAllMasters() {
    assertThat(refill(store, 300)).hasOnlyElementsOfType(Answered.class);
    assertThat(cluster.masters())
        .allSatisfy(master -> assertThat((Long) master.call("DBSIZE")).isGreaterThan(100));
  }

  @Test
  void aHungMasterConcernsOnlyTheKeysThatItHas() {
    try (StoreDriver real = real()) {
      cluster.masters().get(0).suspend();
      List<RefillOutcome> outcomes = refill(real, 300);
      assertThat(outcomes.stream().filter(Answered.class::isInstance).count())
          .isBetween(150L, 250L);
      assertThat(real.store().healthy()).isFalse();
      cluster.masters().get(0).resume();
      awaitAllAnswered(real);
    }
  }

  @Test
  void aSlotThatHasMovedIsFound() {
    RedisServer from = cluster.masters().get(1);
    RedisServer to = cluster.masters().get(2);
    try (StoreDriver real = real()) {
      String key = keyOn(from);
      assertThat(real.granted(key, WIDE, 1)).isEqualTo(1);
      moveSlot(SlotMap.slotOf(key), from, to);
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(real.refill(List.of(refillOf(key))))
                      .hasOnlyElementsOfType(Answered.class));
      moveSlot(SlotMap.slotOf(key), to, from);
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(real.refill(List.of(refillOf(key))))
                      .hasOnlyElementsOfType(Answered.class));
    }
  }

  @Test
  void aSlotUnderMigrationIsServedWhenThatIsOver() {
    RedisServer from = cluster.masters().get(1);
    RedisServer to = cluster.masters().get(2);
    String key = keyOn(from);
    String slot = Integer.toString(SlotMap.slotOf(key));
    try (StoreDriver real = real()) {
      to.call("CLUSTER", "SETSLOT", slot, "IMPORTING", from.call("CLUSTER", "MYID").toString());
      from.call("CLUSTER", "SETSLOT", slot, "MIGRATING", to.call("CLUSTER", "MYID").toString());
      // Nothing of it is there any more: ASK.
      awaitUnavailable(real, key, "ASK");
      from.call("CLUSTER", "SETSLOT", slot, "STABLE");
      awaitAnswered(real, key);
      // Some of it is there, some is not: TRYAGAIN.
      from.call("DEL", "weir:{" + key + "}:default:level");
      from.call("CLUSTER", "SETSLOT", slot, "MIGRATING", to.call("CLUSTER", "MYID").toString());
      awaitUnavailable(real, key, "TRYAGAIN");
    } finally {
      from.call("CLUSTER", "SETSLOT", slot, "STABLE");
      to.call("CLUSTER", "SETSLOT", slot, "STABLE");
    }
    try (StoreDriver real = real()) {
      awaitAnswered(real, key);
    }
  }

  @Test
  void aMasterThatMissesASlotConcernsOnlyTheKeysThatItHas() {
    RedisServer master = cluster.masters().get(1);
    String key = keyOn(master);
    try (StoreDriver real = real()) {
      awaitAnswered(real, key);
      String missing = Integer.toString(SlotMap.SLOTS / 2);
      // Redis's default, by which it serves nothing then.
      master.call("CONFIG", "SET", "cluster-require-full-coverage", "yes");
      assertThat(master.call("CLUSTER", "DELSLOTS", missing)).isEqualTo("OK");
      try {
        awaitUnavailable(real, key, "CLUSTERDOWN");
        awaitAnswered(real, keyOn(cluster.masters().get(0)));
      } finally {
        master.call("CLUSTER", "ADDSLOTS", missing);
        master.call("CONFIG", "SET", "cluster-require-full-coverage", "no");
      }
      awaitAllAnswered(real);
    }
  }

  /** A key whose slot is on {@code master}. */
  private static String keyOn(RedisServer master) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "key" + i)
        .filter(key -> master.call("GET", "{" + key + "}").equals(RedisProbe.NOTHING))
        .findFirst()
        .orElseThrow();
  }

  private static void awaitUnavailable(StoreDriver store, String key, String code) {
    Awaitility.await()
        .until(
            () ->
                store.refill(List.of(refillOf(key))).get(0) instanceof Unavailable unavailable
                    && unavailable.reason().contains(code));
  }

  private static void awaitAnswered(StoreDriver store, String key) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> store.refill(List.of(refillOf(key))).get(0) instanceof Answered);
  }

  @Test
  void tenFailoversLeaveAConnectionPerMaster() {
    try (RedisCluster replicated = RedisCluster.start(3, true);
        StoreDriver real = open(replicated).start()) {
      RedisServer master = replicated.masters().get(0);
      RedisServer replica = replicated.replicas().get(0);
      for (int round = 0; round < 10; round++) {
        RedisServer next = round % 2 == 0 ? replica : master;
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> next.call("INFO", "replication").toString().contains("link_status:up"));
        // Without a vote, which masters give once in two node timeouts.
        assertThat(next.call("CLUSTER", "FAILOVER", "TAKEOVER")).isEqualTo("OK");
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> next.call("ROLE").toString().startsWith("[master"));
        awaitAllAnswered(real);
      }
      // The tenth has made the first one a master again.
      for (RedisServer each : replicated.masters()) {
        Awaitility.await().untilAsserted(() -> assertThat(each.clientConnections()).isEqualTo(1));
      }
      Awaitility.await().untilAsserted(() -> assertThat(replica.clientConnections()).isZero());
    }
  }

  @Test
  void aReplicaThatTakesOverIsFound() {
    try (RedisCluster replicated = RedisCluster.start(3, true);
        StoreDriver real = open(replicated).start()) {
      replicated.masters().get(0).kill();
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> refill(real, 100).stream().anyMatch(Unavailable.class::isInstance));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> refill(real, 100).stream().allMatch(Answered.class::isInstance));
    }
  }

  /**
   * Without its keys, which the nodes then delete or do not know of: the map alone matters here.
   */
  private static void moveSlot(int slot, RedisServer from, RedisServer to) {
    String id = to.call("CLUSTER", "MYID").toString();
    from.call("FLUSHALL");
    // The newest epoch wins where nodes disagree.
    to.call("CLUSTER", "BUMPEPOCH");
    to.call("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id);
    from.call("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id);
  }

  private StoreDriver real() {
    return open(cluster).start();
  }

  private static StoreDriver open(RedisCluster cluster) {
    return new StoreDriver(
        vertx,
        Stores.open(
            StoreUrl.parse(cluster.url()),
            "weir",
            Duration.ofMinutes(1),
            StoreDriver.TIMEOUT,
            StoreDriver.ROOM,
            vertx,
            Clock.system(),
            new SimpleMeterRegistry()));
  }

  private static void awaitAllAnswered(StoreDriver store) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> refill(store, 100).stream().allMatch(Answered.class::isInstance));
  }

  private static List<RefillOutcome> refill(StoreDriver store, int keys) {
    return store.refill(IntStream.range(0, keys).mapToObj(i -> refillOf("key" + i)).toList());
  }

  private static Refill refillOf(String key) {
    return new Refill(key, List.of(take(WIDE, 1)));
  }
}
