package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.config.MultiMapConfig.ValueCollectionType;
import com.hazelcast.config.NetworkConfig;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Two members of a cluster: one runs a node, the other only asks. */
class CheckBusClusterIT {

  private final String clusterName = UUID.randomUUID().toString();

  @Test
  void aMemberWithoutANodeAsksOneThatHasOne() throws IOException {
    List<Integer> ports = freePorts();
    Vertx node = member(ports.get(0), ports);
    Vertx asking = member(ports.get(1), ports);
    try {
      FakeLimiter limiter = new FakeLimiter();
      CheckBus endpoint = CheckBus.serve(node, limiter, true, () -> 0).await();
      // The first question opens a connection, on a machine that may be busy.
      RateLimiter remote = RateLimiter.create(asking, Duration.ofSeconds(20));

      CheckRequest request = new CheckRequest("e\u0301🙂\0", "degraded", 3, "gold");
      Decision allowed = remote.check(request).await();
      Decision denied = remote.check(request.withCost(8)).await();

      assertThat(denied).isEqualTo(limiter.decide(request.withCost(8)));
      assertThat(allowed.remaining()).isEqualTo(7);
      assertThat(limiter.used(request.key())).isEqualTo(3);
      assertRefused(remote, CheckRequest.of("stranger"), 403);
      assertRefused(remote, CheckRequest.of("acme").withPlan("nowhere"), 404);

      RateLimiter impatient = RateLimiter.create(asking, Duration.ofMillis(50));
      assertFails(impatient, ReplyFailure.TIMEOUT);

      endpoint.stop().await();
      await().untilAsserted(() -> assertFails(remote, ReplyFailure.NO_HANDLERS));
    } finally {
      asking.close().await();
      node.close().await();
    }
  }

  private static void assertRefused(RateLimiter limiter, CheckRequest request, int code) {
    assertThat(catchThrowable(() -> limiter.check(request).await()))
        .isInstanceOfSatisfying(
            CheckRefusedException.class, refused -> assertThat(refused.code()).isEqualTo(code));
  }

  /** The key {@code slow} is never decided here. */
  private static void assertFails(RateLimiter limiter, ReplyFailure type) {
    assertThat(catchThrowable(() -> limiter.check("slow").await()))
        .isInstanceOfSatisfying(
            ReplyException.class, failure -> assertThat(failure.failureType()).isEqualTo(type));
  }

  private Vertx member(int port, List<Integer> ports) {
    Config config = new Config().setClusterName(clusterName);
    config
        .setProperty("hazelcast.phone.home.enabled", "false")
        .setProperty("hazelcast.wait.seconds.before.join", "0")
        .setProperty("hazelcast.partition.count", "31")
        .setProperty("hazelcast.logging.type", "slf4j");
    config.addMultiMapConfig(
        new MultiMapConfig("__vertx.subs").setValueCollectionType(ValueCollectionType.SET));
    NetworkConfig network = config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    JoinConfig join = network.getJoin();
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    join.getTcpIpConfig().setEnabled(true);
    ports.forEach(other -> join.getTcpIpConfig().addMember("127.0.0.1:" + other));
    return Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost("127.0.0.1")))
        .withClusterManager(new HazelcastClusterManager(config))
        .buildClustered()
        .await();
  }

  private static List<Integer> freePorts() throws IOException {
    try (ServerSocket first = new ServerSocket(0);
        ServerSocket second = new ServerSocket(0)) {
      return List.of(first.getLocalPort(), second.getLocalPort());
    }
  }
}
