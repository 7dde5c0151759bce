package dev.weir.lease;

import java.util.HashMap;
import java.util.Map;

/** Sends each command to the node of a cluster that a redirection names. */
final class ClusterCommands implements RedisTime.Commands {
  private final RedisCluster cluster;
  private final Map<String, RedisProbe> probes = new HashMap<>();

  ClusterCommands(RedisCluster cluster) {
    this.cluster = cluster;
  }

  private RedisProbe probe(String address) {
    return probes.computeIfAbsent(
        address,
        a -> {
          int colon = a.lastIndexOf(':');
          return RedisProbe.connect(
              a.substring(0, colon), Integer.parseInt(a.substring(colon + 1)));
        });
  }

  @Override
  public Object call(String name, String... command) {
    RedisServer any = cluster.masters().get(0);
    String address = any.host() + ":" + any.port();
    while (true) {
      Object reply = probe(address).call(command);
      if (!reply.toString().startsWith("MOVED ")) {
        return reply;
      }
      address = reply.toString().substring(reply.toString().lastIndexOf(' ') + 1);
    }
  }

  @Override
  public void close() {
    probes.values().forEach(RedisProbe::close);
  }
}
