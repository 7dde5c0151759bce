package dev.weir.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/**
 * A real Redis Cluster for tests: processes of this machine, masters first, then a replica each.
 */
public final class RedisCluster implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SLOTS = 16_384;
  private static final String[] ARGUMENTS = {
    "--cluster-enabled", "yes",
    "--cluster-node-timeout", "2000",
    "--cluster-replica-validity-factor", "0",
    // Else a master that is gone, and has no replica, takes the slots of all others along.
    "--cluster-require-full-coverage", "no"
  };

  private final List<RedisServer> masters = new ArrayList<>();
  private final List<RedisServer> replicas = new ArrayList<>();

  private RedisCluster() {}

  /**
   * Starts a cluster that serves all slots when this returns.
   *
   * @param masters that share the slots
   * @param replicated whether each has a replica
   */
  public static RedisCluster start(int masters, boolean replicated) {
    RedisCluster cluster = new RedisCluster();
    try {
      cluster.assemble(masters, replicated);
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void assemble(int count, boolean replicated) {
    for (int i = 0; i < count; i++) {
      RedisServer master = RedisServer.startProcess(ARGUMENTS);
      masters.add(master);
      String[] slots =
          IntStream.range(SLOTS * i / count, SLOTS * (i + 1) / count)
              .mapToObj(Integer::toString)
              .toArray(String[]::new);
      List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
      command.addAll(List.of(slots));
      // Different epochs, so that no two masters have to quarrel about theirs.
      master.call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      master.call(command.toArray(String[]::new));
      if (replicated) {
        replicas.add(RedisServer.startProcess(ARGUMENTS));
      }
    }
    RedisServer first = masters.get(0);
    for (RedisServer other : servers()) {
      if (other != first) {
        other.call("CLUSTER", "MEET", first.host(), Integer.toString(first.port()));
      }
    }
    await("know each other", server -> known(server) == servers().size());
    for (int i = 0; i < replicas.size(); i++) {
      String master = masters.get(i).call("CLUSTER", "MYID").toString();
      RedisServer replica = replicas.get(i);
      Awaitility.await()
          .atMost(PATIENCE)
          .until(() -> replica.call("CLUSTER", "REPLICATE", master).equals("OK"));
    }
    await("serve", server -> info(server).contains("cluster_state:ok"));
    for (RedisServer replica : replicas) {
      Awaitility.await()
          .atMost(PATIENCE)
          .until(
              () ->
                  replica.call("INFO", "replication").toString().contains("master_link_status:up"));
    }
  }

  private void await(String what, Predicate<RedisServer> condition) {
    Awaitility.await("cluster nodes " + what)
        .atMost(PATIENCE)
        .until(() -> servers().stream().allMatch(condition));
  }

  private static long known(RedisServer server) {
    return server
        .call("CLUSTER", "NODES")
        .toString()
        .lines()
        .filter(l -> !l.contains("handshake"))
        .count();
  }

  private static String info(RedisServer server) {
    return server.call("CLUSTER", "INFO").toString();
  }

  /** The servers that were masters at the start, in the order of their slots. */
  public List<RedisServer> masters() {
    return List.copyOf(masters);
  }

  /** The servers that were replicas at the start, in the order of their masters. */
  public List<RedisServer> replicas() {
    return List.copyOf(replicas);
  }

  private List<RedisServer> servers() {
    List<RedisServer> servers = new ArrayList<>(masters);
    servers.addAll(replicas);
    return servers;
  }

  /** {@code redis-cluster://} with all nodes. */
  public String url() {
    return "redis-cluster://"
        + String.join(",", servers().stream().map(s -> s.host() + ":" + s.port()).toList());
  }

  @Override
  public void close() {
    servers().forEach(RedisServer::close);
  }
}
