package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.node.Traffic.Demand;
import dev.weir.node.Traffic.Tally;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What callers get of a limit while something fails. Of two keys, one is asked for three times what
 * it is allowed, from a full bucket on, and one for well less than that.
 *
 * @param busy of the key that is asked for too much
 * @param calm of the key that is not
 */
record LoadedLimit(Tally busy, Tally calm) {

  private static final String PLAN = "loaded";
  private static final int RATE = 50;
  static final int CAPACITY = 100;

  /** What all nodes together may hold of it, as the accuracy contract has it. */
  static final double OUTSTANDING = 0.01 * (CAPACITY + RATE * 60);

  /** How much more than the limit each node may admit while it is degraded. */
  private static final double LEAST_SHARE = 0.02;

  /** The longest that nodes take one after another to find that the store is back. */
  private static final int SECONDS_APART = 2;

  private static final int BUSY = 150;
  private static final int CALM = 30;

  /** By then the burst is over, and nodes know their shares. */
  private static final int SECONDS_BEFORE = 2;

  private static final int SECONDS_AFTER = 2;

  /**
   * Answers of a node that show that it has its store for a key, all in a row. Without, it would
   * have to admit a few on its own.
   */
  private static final int CALLS_WITH_STORE = 15;

  /**
   * Asks for the keys before, while, and after {@code fault} is done, until the store answers for
   * both on every node again, and then some more.
   *
   * @param name part of the names of the keys
   */
  static LoadedLimit load(ClusterOfNodes cluster, String name, Consumer<Traffic> fault) {
    return load(cluster, List.of(name), allOf(cluster), fault).get(0);
  }

  /**
   * The same while nodes come and go.
   *
   * @param inService that callers are sent to, as long as they are in it
   */
  static LoadedLimit load(
      ClusterOfNodes cluster, List<NodeClient> inService, String name, Consumer<Traffic> change) {
    return load(inService, List.of(name), allOf(cluster), change).get(0);
  }

  /**
   * The same for several such pairs of keys.
   *
   * @param survivors the indexes of the nodes that answer at the end
   */
  static List<LoadedLimit> load(
      ClusterOfNodes cluster,
      List<String> names,
      List<Integer> survivors,
      Consumer<Traffic> fault) {
    return load(cluster.clients(), names, survivors, fault);
  }

  private static List<LoadedLimit> load(
      List<NodeClient> nodes,
      List<String> names,
      List<Integer> survivors,
      Consumer<Traffic> fault) {
    putPlan(nodes);
    List<Demand> demands =
        names.stream()
            .flatMap(
                name ->
                    Stream.of(
                        new Demand(busyKey(name), PLAN, BUSY),
                        new Demand(calmKey(name), PLAN, CALM)))
            .toList();
    Traffic traffic = Traffic.start(nodes, demands);
    try (traffic) {
      traffic.awaitSecondsWorth(SECONDS_BEFORE);
      fault.accept(traffic);
      traffic.awaitNothingDegraded(CALLS_WITH_STORE, survivors);
      traffic.awaitSecondsWorth(SECONDS_AFTER);
    }
    Tally all = traffic.tally();
    return names.stream()
        .map(name -> new LoadedLimit(all.of(busyKey(name)), all.of(calmKey(name))))
        .toList();
  }

  static List<Integer> allOf(ClusterOfNodes cluster) {
    return IntStream.range(0, cluster.clients().size()).boxed().toList();
  }

  /** The key of this name that is asked for too much. */
  static String busyKey(String name) {
    return "busy " + name;
  }

  /** The key of this name that is asked for less than it is allowed. */
  static String calmKey(String name) {
    return "calm " + name;
  }

  private static void putPlan(List<NodeClient> nodes) {
    nodes
        .get(0)
        .putPlan(PLAN, "{\"rate\":%d,\"period\":\"1s\",\"capacity\":%d}".formatted(RATE, CAPACITY));
    for (NodeClient node : nodes) {
      await().until(() -> node.check("onlooker", PLAN, 0).status() == 200);
    }
  }

  /** What callers of one node got. */
  LoadedLimit on(int node) {
    return new LoadedLimit(busy.on(node), calm.on(node));
  }

  /** No answer but yes and no, of those that the document of the API has. */
  LoadedLimit nobodySawAnError() {
    assertThat(busy.errors()).as("%s", busy).isEmpty();
    assertThat(calm.errors()).as("%s", calm).isEmpty();
    return this;
  }

  LoadedLimit nothingWasDegraded() {
    assertThat(busy.degraded()).as("%s", busy).isZero();
    assertThat(calm.degraded()).as("%s", calm).isZero();
    return this;
  }

  LoadedLimit someWasDegraded() {
    assertThat(busy.degraded()).as("%s", busy).isPositive();
    assertThat(calm.degraded()).as("%s", calm).isPositive();
    return this;
  }

  /**
   * The bound of a store that answers, over any interval.
   *
   * @param lost units that the store, or a node, has lost sight of
   */
  LoadedLimit heldBound(double lost) {
    for (Tally tally : List.of(busy, calm)) {
      assertBurst(tally, 1, lost);
    }
    return this;
  }

  /**
   * The bound while {@code nodes} may be degraded. They do not come back all at once: while some
   * have told the store what they have spent and others have not, both leak.
   */
  LoadedLimit heldDegradedBound(int nodes) {
    double factor = 1 + nodes * LEAST_SHARE;
    double leaked = RATE * SECONDS_APART * (nodes - 1.0) / nodes;
    for (Tally tally : List.of(busy, calm)) {
      assertBurst(tally, factor, factor * leaked);
      assertThat((double) tally.admitted())
          .as("%s", tally)
          .isLessThanOrEqualTo((CAPACITY + RATE * tally.seconds()) * factor + OUTSTANDING);
    }
    return this;
  }

  private static void assertBurst(Tally tally, double factor, double more) {
    assertThat(tally.burst(RATE * factor))
        .as("burst of %s", tally)
        .isLessThanOrEqualTo(CAPACITY * factor + OUTSTANDING + more);
  }

  /** Nine tenths of what the limit allows of these calls have passed, and all that fit easily. */
  LoadedLimit littleWasDenied() {
    assertThat((double) busy.admitted())
        .as("%s", busy)
        .isGreaterThanOrEqualTo(0.9 * busy.allowedByBucket(CAPACITY, RATE));
    assertThat(calm.denied()).as("%s", calm).isZero();
    return this;
  }
}
