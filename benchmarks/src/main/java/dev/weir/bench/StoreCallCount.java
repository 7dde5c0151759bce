package dev.weir.bench;

import dev.weir.bench.InProcessNode.Task;
import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.Store;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * How many decisions nodes make for each call to the store, at the rate that a limit is meant for.
 * What is counted are refills, of which several travel together.
 */
final class StoreCallCount implements Section {

  private static final Limit LIMIT = InProcessNode.bucket(100_000, Duration.ofMinutes(1));
  private static final int MANY_NODES = 50;
  private static final int FEW_NODES = 3;

  /** A little less than the limit admits. */
  private static final double PER_SECOND = 1_600;

  private static final List<Integer> STEPS = List.of(1, 10, 100, 1_000);

  /** Turns in which leases grow before they are counted, and in which they are. */
  private static final int TURNS = 2;

  @Override
  public String name() {
    return "store_calls";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    try (TemporaryDirectory directory = TemporaryDirectory.make()) {
      Vertx vertx = Vertx.vertx();
      try {
        measure(new Fleets(vertx, directory.path(), effort), results);
      } finally {
        Await.done(vertx.close());
      }
    }
  }

  private void measure(Fleets fleets, JsonObject results) {
    results
        .put("decisions_per_store_call", fleets.perCall(Task.of(LIMIT, MANY_NODES), 1))
        .put(
            name(),
            new JsonObject()
                .put("few_nodes", fleets.perCall(Task.of(LIMIT, FEW_NODES), 1))
                .put(
                    "by_lease", each(permits -> fleets.perCall(Task.withLeases(LIMIT, permits), 1)))
                .put("by_busy_keys", each(keys -> fleets.perCall(Task.of(LIMIT, 1), keys))));
  }

  private static JsonObject each(IntFunction<Double> perCall) {
    JsonObject all = new JsonObject();
    STEPS.forEach(step -> all.put(Integer.toString(step), perCall.apply(step)));
    return all;
  }

  /** Fleets of one node or more, each with a store of its own. They end with their Vert.x. */
  private static final class Fleets {

    private final Vertx vertx;
    private final Path directory;
    private final Effort effort;
    private int deployed;

    Fleets(Vertx vertx, Path directory, Effort effort) {
      this.vertx = vertx;
      this.directory = directory;
      this.effort = effort;
    }

    /** Decisions for each refill, of all nodes that {@code task} speaks of, on that many keys. */
    double perCall(Task task, int keys) {
      Store store = InProcessNode.embeddedStore(keys, vertx);
      List<InProcessNode> nodes = new ArrayList<>();
      for (int node = 0; node < task.nodes(); node++) {
        nodes.add(deploy(task, keys, store));
      }
      Rotation asking = new Rotation(nodes, new Keys(keys));
      Duration length = effort.length().multipliedBy(TURNS);
      OpenLoop.run(vertx, PER_SECOND, length, asking);
      long before = refills(nodes);
      Load load = OpenLoop.run(vertx, PER_SECOND, length, asking);
      return load.answered() / (double) Math.max(1, refills(nodes) - before);
    }

    private InProcessNode deploy(Task task, int keys, Store store) {
      Path own = directory.resolve(Integer.toString(deployed++));
      return InProcessNode.deploy(vertx, own, keys, store, Clock.system(), task);
    }
  }

  private static long refills(List<InProcessNode> nodes) {
    return nodes.stream().mapToLong(node -> node.refills().sum()).sum();
  }

  /** Asks all nodes in turn about each key. */
  private static final class Rotation implements Request {

    private final List<InProcessNode> nodes;
    private final Keys keys;
    private int made;

    Rotation(List<InProcessNode> nodes, Keys keys) {
      this.nodes = nodes;
      this.keys = keys;
    }

    @Override
    public Future<?> send() {
      made = (made + 1) % (nodes.size() * keys.count());
      return nodes.get(made % nodes.size()).limiter().check(keys.kept(made / nodes.size()));
    }
  }
}
