package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.node.Traffic.Demand;
import dev.weir.node.Traffic.Tally;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * What callers get of a limit while something fails. Of two keys, one is asked for three times what
 * it is allowed, from a full bucket on, and one for well less than that.
 *
 * @param busy of the key that is asked for too much
 * @param calm of the key that is not
 * @param all of both
 */
record LoadedLimit(Tally busy, Tally calm, Tally all) {

  private static final int RATE = 50;
  private static final int CAPACITY = 100;

  /** What all nodes together may hold of it, as the accuracy contract has it. */
  static final double OUTSTANDING = 0.01 * (CAPACITY + RATE * 60);

  /** How much more than the limit each node may admit while it is degraded. */
  private static final double LEAST_SHARE = 0.02;

  private static final int BUSY = 150;
  private static final int CALM = 30;

  /** By then the burst is over, and nodes know their shares. */
  private static final int CALLS_BEFORE = 400;

  private static final int CALLS_AFTER = 300;

  /**
   * Answers of a node that show that it has its store for a key, all in a row. Without, it would
   * have to admit a few on its own.
   */
  private static final int CALLS_WITH_STORE = 15;

  /**
   * Asks for the keys before, while, and after {@code fault} is done, until the store answers for
   * both on every node again, and then some more.
   *
   * @param name of the keys' own
   */
  static LoadedLimit load(ClusterOfNodes cluster, String name, Consumer<Traffic> fault) {
    return load(
        cluster, name, IntStream.range(0, cluster.clients().size()).boxed().toList(), fault);
  }

  /**
   * The same, where some nodes are gone by the end.
   *
   * @param survivors the indexes of the others
   */
  static LoadedLimit load(
      ClusterOfNodes cluster, String name, List<Integer> survivors, Consumer<Traffic> fault) {
    List<NodeClient> nodes = cluster.clients();
    putPlan(nodes);
    Demand busy = new Demand("busy " + name, "loaded", BUSY);
    Demand calm = new Demand("calm " + name, "loaded", CALM);
    Traffic traffic = Traffic.start(nodes, busy, calm);
    try (traffic) {
      traffic.awaitAnswers(CALLS_BEFORE);
      fault.accept(traffic);
      traffic.awaitNothingDegraded(CALLS_WITH_STORE, survivors);
      traffic.awaitAnswers(CALLS_AFTER);
    }
    Tally all = traffic.tally();
    return new LoadedLimit(all.of(busy.key()), all.of(calm.key()), all);
  }

  private static void putPlan(List<NodeClient> nodes) {
    nodes
        .get(0)
        .putPlan(
            "loaded", "{\"rate\":%d,\"period\":\"1s\",\"capacity\":%d}".formatted(RATE, CAPACITY));
    for (NodeClient node : nodes) {
      await().until(() -> node.check("onlooker", "loaded", 0).status() == 200);
    }
  }

  /** No answer but yes and no, of those that the document of the API has. */
  LoadedLimit nobodySawAnError() {
    assertThat(all.errors()).as("%s", all).isEmpty();
    return this;
  }

  LoadedLimit nothingWasDegraded() {
    assertThat(all.degraded()).as("%s", all).isZero();
    return this;
  }

  LoadedLimit someWasDegraded() {
    assertThat(all.degraded()).as("%s", all).isPositive();
    return this;
  }

  /**
   * The bound of a store that answers, over any interval.
   *
   * @param lost units that the store, or a node, has lost sight of
   */
  LoadedLimit heldBound(double lost) {
    return held(busy, 1, lost).held(calm, 1, lost);
  }

  /** The bound while {@code nodes} may be degraded, over any interval. */
  LoadedLimit heldDegradedBound(int nodes) {
    double factor = 1 + nodes * LEAST_SHARE;
    return held(busy, factor, 0).held(calm, factor, 0);
  }

  private LoadedLimit held(Tally tally, double factor, double lost) {
    assertThat(tally.burst(RATE * factor))
        .as("burst of %s", tally)
        .isLessThanOrEqualTo(CAPACITY * factor + OUTSTANDING + lost);
    return this;
  }

  /** Nine tenths of what the limit allows have passed, and all that it has room for. */
  LoadedLimit littleWasDenied() {
    assertThat((double) busy.admitted())
        .as("%s", busy)
        .isGreaterThanOrEqualTo(0.9 * (CAPACITY + RATE * busy.seconds()));
    assertThat(calm.denied()).as("%s", calm).isZero();
    return this;
  }
}
