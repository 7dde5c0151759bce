package dev.weir.config;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Members of a cluster of their own in this JVM, on the loopback address. */
final class HazelcastNodes {

  private final Vertx vertx = Vertx.vertx();
  private final String name = "config-" + UUID.randomUUID();
  private final List<Integer> ports;

  HazelcastNodes(int most) {
    ports = freePorts(most);
  }

  /** A member that has joined, and has the configuration in force. */
  record Node(
      HazelcastInstance hazelcast, ConfigVerticle verticle, Supplier<Future<Void>> undeploy) {

    Configuration config() {
      return verticle.configuration();
    }

    void leave() throws Exception {
      get(undeploy.get());
      hazelcast.shutdown();
    }
  }

  Node join(int index, Seed seed) throws Exception {
    return join(index, seed, verticle -> verticle);
  }

  Node join(int index, Seed seed, UnaryOperator<ConfigVerticle> more) throws Exception {
    HazelcastInstance hazelcast = Hazelcast.newHazelcastInstance(configOf(index));
    ConfigVerticle verticle = more.apply(ConfigVerticle.clustered(seed, hazelcast, Clock.system()));
    String id = get(deploy(verticle));
    return new Node(hazelcast, verticle, () -> vertx.undeploy(id));
  }

  Future<String> deploy(ConfigVerticle verticle) {
    return vertx.deployVerticle(verticle);
  }

  Config configOf(int index) {
    Config config =
        HazelcastConfiguration.load(
            new ClusterSettings(
                name,
                "127.0.0.1",
                ports.get(index),
                ports.stream().map(port -> "127.0.0.1:" + port).toList()));
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.partition.count", "31");
    // Parts of a split cluster look for the members that they are told of, and no others.
    config.setProperty(
        "hazelcast.tcp.join.previously.joined.member.address.retention.seconds", "0");
    config.setProperty("hazelcast.merge.first.run.delay.seconds", "1");
    config.setProperty("hazelcast.merge.next.run.delay.seconds", "1");
    return config;
  }

  List<Integer> ports() {
    return ports;
  }

  void close() throws Exception {
    get(vertx.close());
  }

  static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, SECONDS);
  }

  private static List<Integer> freePorts(int count) {
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      List<Integer> ports = sockets.stream().map(ServerSocket::getLocalPort).toList();
      for (ServerSocket socket : sockets) {
        socket.close();
      }
      return ports;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
