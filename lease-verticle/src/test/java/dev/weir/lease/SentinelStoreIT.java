package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.RefillOutcome.Answered;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A store on a Redis that Sentinel watches over. */
final class SentinelStoreIT extends RedisStoreContract {
  private static final Limit WIDE = limit(1, Duration.ofSeconds(1), 1_000_000_000_000L);

  private static RedisServer master;
  private static RedisServer sentinel;

  @BeforeAll
  static void startSentinel() {
    master = RedisServer.startProcess();
    sentinel = RedisServer.startSentinel();
    WatchedRedis.watch(sentinel, master, "watched");
  }

  @AfterAll
  static void closeSentinel() {
    sentinel.close();
    master.close();
  }

  @Override
  RedisServer server() {
    return master;
  }

  @Override
  StoreDriver open(String prefix) {
    return RedisTime.store(
        vertx, url("watched"), new RedisTime.Standalone(master.probe()), time, prefix);
  }

  @Test
  void aReplicaThatTakesOverIsFoundThroughSentinel() {
    try (WatchedRedis watched = WatchedRedis.start();
        StoreDriver real = open(StoreUrl.parse(watched.url())).start()) {
      assertThat(answered(real)).isTrue();
      watched.master().kill();
      assertThat(answered(real)).isFalse();
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> answered(real));
      assertThat(watched.replica().call("ROLE").toString()).startsWith("[master");
    }
  }

  @Test
  void tenFailoversLeaveOneConnection() {
    try (RedisServer first = RedisServer.startProcess();
        RedisServer second =
            RedisServer.startProcess("--replicaof", first.host(), Integer.toString(first.port()))) {
      WatchedRedis.watch(sentinel, first, "handed-on");
      try (StoreDriver real = open(url("handed-on")).start()) {
        for (int round = 0; round < 10; round++) {
          RedisServer old = round % 2 == 0 ? first : second;
          RedisServer next = round % 2 == 0 ? second : first;
          Awaitility.await()
              .atMost(Duration.ofSeconds(30))
              .until(() -> next.call("INFO", "replication").toString().contains("link_status:up"));
          // What Sentinel does, but for its patience.
          next.call("REPLICAOF", "NO", "ONE");
          sentinel.call("SENTINEL", "REMOVE", "handed-on");
          WatchedRedis.watch(sentinel, next, "handed-on");
          old.call("REPLICAOF", next.host(), Integer.toString(next.port()));
          old.call("CLIENT", "KILL", "TYPE", "normal");
          Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> answered(real));
        }
        assertOnlyTheStoreIsConnected(first, 1);
        assertOnlyTheStoreIsConnected(second, 0);
      }
    }
  }

  /** Sentinel has connections as well, each of which it names. */
  private static void assertOnlyTheStoreIsConnected(RedisServer server, long connections) {
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(
                        server
                            .call("CLIENT", "LIST", "TYPE", "normal")
                            .toString()
                            .lines()
                            .filter(line -> !line.contains("sentinel"))
                            .count())
                    .as("with that of the test")
                    .isEqualTo(connections + 1));
  }

  @Test
  void aMasterThatNoSentinelKnowsFailsToStart() {
    try (StoreDriver real = open(url("another"))) {
      assertThatThrownBy(real::startAtOnce).hasMessageContaining("no master 'another'");
    }
  }

  private static boolean answered(StoreDriver store) {
    return store.refill(List.of(new Refill("acme", List.of(take(WIDE, 1))))).get(0)
        instanceof Answered;
  }

  /** The first of the Sentinels does not answer. */
  private static StoreUrl url(String name) {
    return StoreUrl.parse(
        "redis-sentinel://127.0.0.1:1," + sentinel.host() + ":" + sentinel.port() + "/" + name);
  }

  private static StoreDriver open(StoreUrl url) {
    return new StoreDriver(
        vertx,
        Stores.open(
            url,
            "weir",
            Duration.ofMinutes(1),
            StoreDriver.TIMEOUT,
            StoreDriver.ROOM,
            vertx,
            Clock.system(),
            new SimpleMeterRegistry()));
  }
}
