package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Nodes that come and go in order, under load. Callers go where nodes are ready, as a load balancer
 * would send them, and notice nothing else.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RollingIT {

  private static final int MOST_NODES = 5;

  private RedisServer redis;
  private ClusterOfNodes cluster;

  /** That callers are sent to. */
  private List<NodeClient> inService;

  /** Of the nodes that run, in their order, and those that are free. */
  private final Deque<Integer> places = new ArrayDeque<>(List.of(0, 1));

  private final Deque<Integer> free = new ArrayDeque<>(List.of(2, 3, 4));

  @BeforeAll
  void start() {
    redis = RedisServer.start();
    cluster = ClusterOfNodes.start(2, MOST_NODES, redis.url(), index -> Map.of());
    inService = new CopyOnWriteArrayList<>(cluster.clients());
  }

  @AfterAll
  void stop() {
    cluster.close();
    redis.close();
  }

  @Test
  void rollingRestartGoesUnnoticed() {
    underLoad(
        "rolled",
        () -> {
          for (int i = 0; i < 2; i++) {
            leave();
            join();
            cluster.awaitCount(2);
          }
        });
  }

  @Test
  void growingAndShrinkingGoUnnoticed() {
    underLoad(
        "scaled",
        () -> {
          leave();
          cluster.awaitCount(1);
          while (!free.isEmpty()) {
            join();
          }
          cluster.awaitCount(MOST_NODES);
          while (places.size() > 2) {
            leave();
          }
          cluster.awaitCount(2);
        });
  }

  /** One that joins has leases of its own while the others still have those of before. */
  private void underLoad(String name, Runnable change) {
    LoadedLimit.load(cluster, inService, name, traffic -> change.run())
        .nobodySawAnError()
        .nothingWasDegraded()
        .heldBound(LoadedLimit.OUTSTANDING)
        .littleWasDenied();
  }

  /** The oldest leaves; callers are sent there for as long as it says that it is ready. */
  private void leave() {
    NodeClient leaving = cluster.client(0);
    CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> cluster.terminate(0));
    await()
        .pollInterval(Duration.ofMillis(50))
        .until(() -> leaving.adminGet("/health/ready").status() == 503);
    inService.removeIf(node -> node.admin().equals(leaving.admin()));
    assertThat(exit.join()).isZero();
    free.add(places.remove());
  }

  private void join() {
    int place = free.remove();
    inService.add(cluster.join(place, redis.url()).client());
    places.add(place);
  }
}
