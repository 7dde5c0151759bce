package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.WatchedRedis;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Three nodes under load on a Redis that Sentinel watches over. */
final class SentinelFaultsIT {

  private static final int NODES = 3;

  @Test
  void masterThatIsKilledIsSucceededByItsReplica() {
    try (WatchedRedis redis = WatchedRedis.start();
        ClusterOfNodes cluster = ClusterOfNodes.start(NODES, redis.url())) {
      LoadedLimit seen =
          LoadedLimit.load(cluster, "watched", traffic -> redis.master().kill())
              .nobodySawAnError()
              .someWasDegraded()
              .heldDegradedBound(NODES)
              .littleWasDenied();
      assertThat(redis.replica().call("ROLE").toString()).startsWith("[master");

      while (!cluster.clients().isEmpty()) {
        assertThat(cluster.terminate(0)).isZero();
      }
      assertThat(spentByUsage(redis.url()))
          .isEqualTo(seen.busy().admitted() + seen.calm().admitted());
    }
  }

  /** Of all windows as they stand, since it would take a minute until they are sealed. */
  private static long spentByUsage(String store) {
    RunningNode.Exit usage =
        RunningNode.run(
            RunningNode.scratchDirectory(),
            Map.of("WEIR_STORE", store),
            "usage",
            "--include-open",
            "--plan=loaded");
    assertThat(usage.code()).as("%s", usage).isZero();
    Map<List<String>, Long> spent = new HashMap<>();
    for (String line : usage.out()) {
      JsonObject record = new JsonObject(line);
      List<String> window = List.of(record.getString("key"), record.getString("window_start"));
      boolean late = record.getString("state").equals("late");
      // Others have all that is known of the window.
      spent.merge(window, record.getLong("spent"), late ? Long::sum : (before, now) -> now);
    }
    return spent.values().stream().mapToLong(Long::longValue).sum();
  }
}
