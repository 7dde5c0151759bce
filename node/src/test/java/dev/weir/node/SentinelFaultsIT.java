package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.WatchedRedis;
import org.junit.jupiter.api.Test;

/** Three nodes under load on a Redis that Sentinel watches over. */
final class SentinelFaultsIT {

  private static final int NODES = 3;

  @Test
  void masterThatIsKilledIsSucceededByItsReplica() {
    try (WatchedRedis redis = WatchedRedis.start();
        ClusterOfNodes cluster = ClusterOfNodes.start(NODES, redis.url())) {
      LoadedLimit.load(cluster, "watched", traffic -> redis.master().kill())
          .nobodySawAnError()
          .someWasDegraded()
          .heldDegradedBound(NODES)
          .littleWasDenied();
      assertThat(redis.replica().call("ROLE").toString()).startsWith("[master");
    }
  }
}
