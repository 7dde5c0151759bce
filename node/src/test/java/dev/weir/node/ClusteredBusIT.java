package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.hazelcast.config.Config;
import com.hazelcast.config.InMemoryXmlConfig;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import dev.weir.lease.RedisServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * An application that is a member of the cluster and decides nothing itself: it asks over the bus.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ClusteredBusIT {

  private RedisServer redis;
  private ClusterOfNodes cluster;
  private Vertx application;
  private RateLimiter limiter;

  @BeforeAll
  void start() throws IOException {
    redis = RedisServer.start();
    cluster = ClusterOfNodes.start(1, redis.url());
    application =
        result(
            Vertx.builder()
                .withClusterManager(new HazelcastClusterManager(sameClusterAsTheNodes()))
                .buildClustered());
    limiter = RateLimiter.create(application);
    cluster.client(0).putPlan("bus", "{\"rate\":1,\"period\":\"1h\",\"capacity\":5}");
  }

  @AfterAll
  void stop() {
    if (application != null) {
      result(application.close());
    }
    if (cluster != null) {
      cluster.close();
    }
    redis.close();
  }

  @Test
  void applicationIsAnsweredFromTheNode() {
    CheckRequest request = CheckRequest.of("rider").withPlan("bus").withCost(2);
    await()
        .atMost(Duration.ofSeconds(10))
        .ignoreExceptions()
        .until(() -> result(limiter.check(request.withCost(0))).allowed());

    Decision decision = result(limiter.check(request));
    assertThat(decision).isInstanceOf(Decision.Allowed.class);
    assertThat(decision.key()).isEqualTo("rider");
    assertThat(decision.plan()).isEqualTo("bus");
    assertThat(decision.limit()).isEqualTo(5);
    assertThat(decision.remaining()).isEqualTo(3);

    assertThat(cluster.client(0).check("rider", "bus", 3).status()).isEqualTo(200);
    assertThat(result(limiter.check(request)))
        .isInstanceOfSatisfying(
            Decision.Denied.class,
            denied -> {
              assertThat(denied.reason()).isEqualTo(Decision.Reason.LIMIT);
              assertThat(denied.retryAfterMillis()).isPositive();
            });
  }

  @Test
  void limitHoldsForCallsOfBothWaysTogether() {
    CheckRequest request = CheckRequest.of("crowd").withPlan("bus").withCost(1);
    List<Boolean> admitted =
        Crowd.call(
            10,
            4,
            call ->
                call % 2 == 0
                    ? result(limiter.check(request)).allowed()
                    : cluster.client(0).check("crowd", "bus", 1).admitted());
    assertThat(admitted).filteredOn(yes -> yes).hasSize(5);
  }

  @Test
  void refusalIsTheSameAsInTheNode() {
    assertThatThrownBy(
            () -> result(limiter.check(CheckRequest.of("anyone").withPlan("no-such-plan"))))
        .isInstanceOfSatisfying(
            CheckRefusedException.class, refused -> assertThat(refused.code()).isEqualTo(404));
  }

  @Test
  void jsonIsAnsweredWithJson() {
    JsonObject reply =
        result(
                application
                    .eventBus()
                    .<JsonObject>request(
                        "weir.check.cluster",
                        new JsonObject().put("key", "json").put("plan", "bus")))
            .body();
    assertThat(reply.getBoolean("allowed")).isTrue();
    assertThat(reply.getLong("remaining")).isEqualTo(4);
  }

  /** The file that the nodes load, with what their settings add to it. */
  private Config sameClusterAsTheNodes() throws IOException {
    Config config =
        new InMemoryXmlConfig(Files.readString(Repository.root().resolve("cluster.xml")));
    config.setClusterName(cluster.name());
    config.getNetworkConfig().setPort(FreePorts.next()).setPortAutoIncrement(false);
    config.getNetworkConfig().getInterfaces().setEnabled(true).setInterfaces(List.of("127.0.0.1"));
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config
        .getNetworkConfig()
        .getJoin()
        .getTcpIpConfig()
        .setEnabled(true)
        .setMembers(List.of(cluster.members().split(",")));
    return config;
  }

  private static <T> T result(Future<T> future) {
    try {
      return future.await(60, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("no answer over the event bus", e);
    }
  }
}
