package dev.weir.lease;

import java.time.Duration;
import org.awaitility.Awaitility;

/** A Redis with a replica, and a Sentinel that watches over both: processes of this machine. */
public final class WatchedRedis implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String NAME = "watched";

  private final RedisServer master;
  private final RedisServer replica;
  private final RedisServer sentinel;

  private WatchedRedis(RedisServer master, RedisServer replica, RedisServer sentinel) {
    this.master = master;
    this.replica = replica;
    this.sentinel = sentinel;
  }

  /** Starts them; when this returns the Sentinel knows both, and the replica has caught up. */
  public static WatchedRedis start() {
    RedisServer master = RedisServer.startProcess();
    String port = Integer.toString(master.port());
    WatchedRedis all =
        new WatchedRedis(
            master,
            RedisServer.startProcess("--replicaof", master.host(), port),
            RedisServer.startSentinel());
    try {
      watch(all.sentinel, master, NAME);
      Awaitility.await("the Sentinel knows the replica")
          .atMost(PATIENCE)
          .until(
              () ->
                  all.sentinel
                      .call("SENTINEL", "MASTER", NAME)
                      .toString()
                      .contains("num-slaves, 1"));
      Awaitility.await("the replica has caught up")
          .atMost(PATIENCE)
          .until(
              () ->
                  all.replica
                      .call("INFO", "replication")
                      .toString()
                      .contains("master_link_status:up"));
      return all;
    } catch (RuntimeException | Error e) {
      all.close();
      throw e;
    }
  }

  /** Has {@code sentinel} watch over {@code master}, and act after a second without an answer. */
  static void watch(RedisServer sentinel, RedisServer master, String name) {
    String port = Integer.toString(master.port());
    sentinel.call("SENTINEL", "MONITOR", name, master.host(), port, "1");
    sentinel.call("SENTINEL", "SET", name, "down-after-milliseconds", "1000");
    sentinel.call("SENTINEL", "SET", name, "failover-timeout", "5000");
  }

  /** The server that was the master at the start. */
  public RedisServer master() {
    return master;
  }

  /** The server that was the replica at the start. */
  public RedisServer replica() {
    return replica;
  }

  /** {@code redis-sentinel://}, whose first Sentinel does not answer. */
  public String url() {
    return "redis-sentinel://127.0.0.1:1," + sentinel.host() + ":" + sentinel.port() + "/" + NAME;
  }

  @Override
  public void close() {
    sentinel.close();
    replica.close();
    master.close();
  }
}
