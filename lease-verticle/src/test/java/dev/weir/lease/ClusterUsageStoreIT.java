package dev.weir.lease;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** On a Redis Cluster of three masters, one of which has all that there is of usage. */
final class ClusterUsageStoreIT extends RedisUsageStoreContract {
  private static RedisCluster cluster;

  @BeforeAll
  static void startCluster() {
    cluster = RedisCluster.start(3, false);
  }

  @AfterAll
  static void closeCluster() {
    cluster.close();
  }

  @Override
  StoreUrl url() {
    return StoreUrl.parse(cluster.url());
  }

  @Override
  List<RedisServer> servers() {
    return cluster.masters();
  }

  @Override
  RedisTime.Commands commands() {
    return new ClusterCommands(cluster);
  }
}
