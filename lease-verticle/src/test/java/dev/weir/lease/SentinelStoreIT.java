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
    watch(sentinel, master);
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
    try (RedisServer first = RedisServer.startProcess();
        RedisServer second = RedisServer.startProcess(replicaOf(first));
        RedisServer watcher = RedisServer.startSentinel()) {
      watch(watcher, first);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  watcher
                      .call("SENTINEL", "MASTER", "watched")
                      .toString()
                      .contains("num-slaves, 1"));
      try (StoreDriver real = open(url(watcher, "watched")).start()) {
        assertThat(answered(real)).isTrue();
        first.kill();
        assertThat(answered(real)).isFalse();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> answered(real));
        assertThat(second.call("ROLE").toString()).startsWith("[master");
      }
    }
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

  private static String[] replicaOf(RedisServer server) {
    return new String[] {"--replicaof", server.host(), Integer.toString(server.port())};
  }

  private static void watch(RedisServer sentinel, RedisServer master) {
    String port = Integer.toString(master.port());
    sentinel.call("SENTINEL", "MONITOR", "watched", master.host(), port, "1");
    sentinel.call("SENTINEL", "SET", "watched", "down-after-milliseconds", "1000");
    sentinel.call("SENTINEL", "SET", "watched", "failover-timeout", "5000");
  }

  private static StoreUrl url(String name) {
    return url(sentinel, name);
  }

  /** The first of the Sentinels does not answer. */
  private static StoreUrl url(RedisServer sentinel, String name) {
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
            vertx,
            Clock.system(),
            new SimpleMeterRegistry()));
  }
}
