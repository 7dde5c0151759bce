package dev.weir.node;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Node processes that form a cluster of their own on the loopback address. */
final class ClusterOfNodes implements AutoCloseable {

  /** Parts of a split cluster look for each other every 30 s. */
  private static final Duration JOIN = Duration.ofSeconds(90);

  private final String name = "weir-" + UUID.randomUUID();
  private final List<Integer> ports;
  private final List<RunningNode> nodes = new ArrayList<>();

  private ClusterOfNodes(int places) {
    ports = IntStream.range(0, places).mapToObj(i -> FreePorts.next()).toList();
  }

  /** {@code size} nodes on one store, all started at once, each of which sees all the others. */
  static ClusterOfNodes start(int size, String storeUrl) {
    return start(size, storeUrl, index -> Map.of());
  }

  /** The same, with more in the environment of each node, by its index. */
  static ClusterOfNodes start(
      int size, String storeUrl, IntFunction<Map<String, String>> environment) {
    return start(size, size, storeUrl, environment);
  }

  /** The same, where others may {@link #join} up to {@code places} in all. */
  static ClusterOfNodes start(
      int size, int places, String storeUrl, IntFunction<Map<String, String>> environment) {
    ClusterOfNodes cluster = new ClusterOfNodes(places);
    try {
      for (int i = 0; i < size; i++) {
        cluster.nodes.add(cluster.launch(i, storeUrl, environment.apply(i)));
      }
      cluster.nodes.forEach(RunningNode::awaitReady);
      cluster.awaitCount(size);
      return cluster;
    } catch (RuntimeException | AssertionError e) {
      cluster.close();
      throw e;
    }
  }

  private RunningNode launch(int index, String storeUrl, Map<String, String> environment) {
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_STORE", storeUrl);
    settings.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    settings.put("WEIR_CLUSTER", "on");
    settings.put("WEIR_CLUSTER_NAME", name);
    settings.put("WEIR_CLUSTER_HOST", "127.0.0.1");
    settings.put("WEIR_CLUSTER_PORT", Integer.toString(ports.get(index)));
    settings.put("WEIR_CLUSTER_MEMBERS", members());
    settings.putAll(environment);
    return RunningNode.launch(RunningNode.scratchDirectory(), settings, List.of("start"));
  }

  /** Kills the node and starts another in its place, with {@code environment}; it answers. */
  void replace(int index, String storeUrl, Map<String, String> environment) {
    nodes.get(index).kill();
    RunningNode next = launch(index, storeUrl, environment);
    nodes.set(index, next);
    next.awaitReady();
  }

  /** Starts one more node, at a place of those that have gone or were never there; it answers. */
  RunningNode join(int place, String storeUrl) {
    RunningNode next = launch(place, storeUrl, Map.of());
    nodes.add(next);
    next.awaitReady();
    return next;
  }

  /** Waits until every node that still runs sees {@code count} nodes. */
  void awaitCount(int count) {
    await()
        .atMost(JOIN)
        .untilAsserted(
            () -> {
              for (RunningNode node : nodes) {
                int seen = node.client().nodes();
                if (seen != count) {
                  throw new AssertionError("sees " + seen + " nodes, not " + count);
                }
              }
            });
  }

  /** Ends the node by SIGTERM, forgets it, and gives its exit code. */
  int terminate(int index) {
    return nodes.remove(index).terminate();
  }

  /** Kills the node and forgets it. */
  void kill(int index) {
    nodes.remove(index).kill();
  }

  RunningNode node(int index) {
    return nodes.get(index);
  }

  NodeClient client(int index) {
    return nodes.get(index % nodes.size()).client();
  }

  List<NodeClient> clients() {
    return nodes.stream().map(RunningNode::client).toList();
  }

  String name() {
    return name;
  }

  /** Where its members are found, {@code host:port} each, comma-separated. */
  String members() {
    return ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    nodes.forEach(RunningNode::close);
  }
}
