package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Algorithm;
import dev.weir.config.FixedWindow;
import dev.weir.config.Plan;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/**
 * Invariant 6: a fleet whose store goes away for some time, under traffic that asks for more than
 * the limit and keeps its distribution over the nodes, even or not.
 */
class DegradedFleetPropertyTest {

  private static final Duration SECOND = Duration.ofSeconds(1);

  /** How much of what a limit allows is asked for. */
  private static final double DEMAND = 1.5;

  private static final int TICKS_A_SECOND = 10;
  private static final int WARM_UP_SECONDS = 100;

  /** How long after the first node the last one has the store back. */
  private static final int APART_SECONDS = 2;

  /** How much of the traffic each node gets; some get none. */
  @Provide
  Arbitrary<List<Integer>> skews() {
    return Arbitraries.frequencyOf(
            Tuple.of(1, Arbitraries.just(0)), Tuple.of(2, Arbitraries.integers().between(1, 10)))
        .list()
        .ofMinSize(1)
        .ofMaxSize(8)
        .filter(weights -> weights.stream().anyMatch(weight -> weight > 0));
  }

  @Property(tries = 15, shrinking = ShrinkingMode.OFF)
  void aBucketKeepsItsRateAndTheFleetTheBound(
      @ForAll("skews") List<Integer> weights,
      @ForAll @IntRange(min = 20, max = 400) int perSecond,
      @ForAll @IntRange(min = 1, max = 20) int capacitySeconds,
      @ForAll @IntRange(min = 1, max = 20) int cost,
      @ForAll @IntRange(min = 1, max = 60) int outageSeconds,
      @ForAll boolean strict,
      @ForAll boolean divided,
      @ForAll long seed) {
    TokenBucket bucket = new TokenBucket(perSecond, SECOND, (long) perSecond * capacitySeconds);
    int shards = divided && bucket.capacity() >= 16L * cost ? 4 : 1;
    Plan plan = Plans.divided("p", shards, bucket, strict);
    Outcome outcome = new Fleet(plan, weights, perSecond, cost, seed).run(outageSeconds);

    double nodes = weights.size();
    double flowed = (double) perSecond * outageSeconds;
    assertThat((double) outcome.degraded)
        .as("%s", outcome)
        .isLessThanOrEqualTo((bucket.capacity() + flowed) * (1 + nodes * NodeShare.LEAST))
        .isGreaterThanOrEqualTo(0.9 * flowed - nodes * cost);

    double tolerated = 0.01 * (bucket.capacity() + 60.0 * perSecond);
    double apart = Math.min(outageSeconds, APART_SECONDS);
    double flowedUntilBack = perSecond * (outageSeconds + apart + APART_SECONDS + 1);
    assertThat((double) outcome.untilBack)
        .as("%s", outcome)
        .isLessThanOrEqualTo(
            (bucket.capacity() + flowedUntilBack) * (1 + nodes * NodeShare.LEAST) + tolerated);

    // While some nodes are back and others are not, the store's level leaks, and so do debts.
    double excess = Math.max(0, outcome.untilBack - flowedUntilBack - outcome.leftBefore);
    assertThat((double) outcome.total)
        .as("%s", outcome)
        .isLessThanOrEqualTo(
            bucket.capacity() + perSecond * outcome.seconds + excess + tolerated + 1);
  }

  @Property(tries = 15, shrinking = ShrinkingMode.OFF)
  void aWindowKeepsItsLimitAndTheFleetTheBound(
      @ForAll("skews") List<Integer> weights,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 2, max = 20) int windowSeconds,
      @ForAll @IntRange(min = 20, max = 60) int perSecond,
      @ForAll @IntRange(min = 1, max = 5) int cost,
      @ForAll @IntRange(min = 1, max = 60) int outageSeconds,
      @ForAll long seed) {
    long limit = (long) perSecond * windowSeconds;
    Duration window = Duration.ofSeconds(windowSeconds);
    Algorithm algorithm =
        switch (kind) {
          case 0 -> new FixedWindow(limit, new Every(window));
          case 1 -> new SlidingWindow(limit, window);
          default -> new SlidingLog(limit, window);
        };
    Outcome outcome =
        new Fleet(Plans.of("p", algorithm), weights, perSecond, cost, seed).run(outageSeconds);

    double nodes = weights.size();
    // Windows that the outage touches, and those that lie in it.
    double most = limit * (outageSeconds / windowSeconds + 2);
    double least = limit * Math.max(0, outageSeconds / windowSeconds - 1);
    assertThat((double) outcome.degraded)
        .as("%s", outcome)
        .isLessThanOrEqualTo(most * (1 + nodes * NodeShare.LEAST))
        .isGreaterThanOrEqualTo(0.9 * least - nodes * cost * (outageSeconds / windowSeconds + 1));
  }

  @Test
  void allTrafficOnTwoOfSixNodesKeepsNineTenthsAndTheFleetKeepsTheBound() {
    Plan plan = Plans.bucket("p", 100, SECOND, 1_000);
    Outcome outcome = new Fleet(plan, List.of(0, 1, 0, 0, 1, 0), 100, 1, 1).run(60);

    assertThat(outcome.degraded)
        .isGreaterThanOrEqualTo(5_400)
        .isLessThanOrEqualTo((long) ((1_000 + 6_000) * (1 + 6 * NodeShare.LEAST)));
  }

  @Test
  void whoHasTheStoreBackFirstIsNotGrantedWhatTheOthersHaveSpent() {
    VirtualClock clock = new VirtualClock();
    Store store = TestStores.embedded(clock);
    Plan plan = Plans.bucket("p", 1, Duration.ofDays(365), 100);
    List<TestNode> both = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      TestNode node = new TestNode(clock, store, Plans.config(plan), 10);
      node.decider.nodes(2);
      both.add(node);
    }
    long admitted = admitted(clock, both, 1, 10);
    both.forEach(TestNode::cut);
    admitted += admitted(clock, both, 4, 20);
    both.get(0).mend();
    admitted += admitted(clock, both, 4, 20);
    both.get(1).mend();
    admitted += admitted(clock, both, 4, 30);

    assertThat(admitted).isBetween(90L, (long) (100 * (1 + 2 * NodeShare.LEAST)));
    assertThat(both).noneMatch(node -> node.check("a", 1).degraded());
  }

  /** Of some units that each node is asked for in each of some ticks. */
  private static long admitted(VirtualClock clock, List<TestNode> nodes, int units, int ticks) {
    long admitted = 0;
    for (int tick = 0; tick < ticks; tick++) {
      clock.advance(SECOND.dividedBy(TICKS_A_SECOND));
      for (TestNode node : nodes) {
        node.tend();
        admitted += node.allowedOf(units, "a");
      }
    }
    return admitted;
  }

  @Test
  void aKeyThatNoNodeHasSeenGetsItsLimitOnceHoweverManyNodesAskForIt() {
    VirtualClock clock = new VirtualClock();
    Store store = TestStores.embedded(clock);
    long admitted = 0;
    for (int i = 0; i < 5; i++) {
      TestNode node =
          new TestNode(
              clock, store, Plans.config(Plans.bucket("p", 1, Duration.ofDays(365), 100)), 10);
      node.decider.nodes(5);
      node.cut();
      admitted += node.allowedOf(200, "unseen");
    }
    assertThat(admitted).isEqualTo(100);
  }

  /**
   * What was admitted.
   *
   * @param untilBack while the store was away, and until {@link #APART_SECONDS} and one after all
   *     nodes had it back
   * @param leftBefore the store's word before it went away
   */
  private record Outcome(
      long total, long degraded, long untilBack, long leftBefore, double seconds) {}

  private static final class Fleet {
    private final VirtualClock clock = new VirtualClock();
    private final List<TestNode> nodes = new ArrayList<>();
    private final List<Integer> order;
    private final double[] demands;
    private final double[] wanted;
    private final int cost;
    private final Random random;
    private long admitted;
    private int ticks;

    Fleet(Plan plan, List<Integer> weights, int perSecond, int cost, long seed) {
      Store store = TestStores.embedded(clock);
      this.cost = cost;
      random = new Random(seed);
      double all = weights.stream().mapToInt(Integer::intValue).sum();
      demands =
          weights.stream()
              .mapToDouble(weight -> DEMAND * perSecond / TICKS_A_SECOND * weight / all)
              .toArray();
      wanted = new double[demands.length];
      order = new ArrayList<>(IntStream.range(0, demands.length).boxed().toList());
      for (int i = 0; i < demands.length; i++) {
        TestNode node = new TestNode(clock, store, Plans.config(plan), 10);
        node.decider.nodes(demands.length);
        nodes.add(node);
      }
    }

    Outcome run(int outageSeconds) {
      traffic(WARM_UP_SECONDS);
      long left = nodes.get(0).inspect("a").statuses().get(0).remaining();
      long before = admitted;
      nodes.forEach(TestNode::cut);
      traffic(outageSeconds);
      final long degraded = admitted - before;
      mend(Math.min(outageSeconds, APART_SECONDS));
      traffic(APART_SECONDS + 1);
      final long untilBack = admitted - before;
      traffic(20);
      return new Outcome(admitted, degraded, untilBack, left, clock.micros() / 1e6);
    }

    /** One node after another. */
    private void mend(int apartSeconds) {
      int apart = apartSeconds * TICKS_A_SECOND;
      int[] due = random.ints(nodes.size(), 0, apart).toArray();
      for (int tick = 0; tick < apart; tick++) {
        for (int i = 0; i < due.length; i++) {
          if (due[i] == tick) {
            nodes.get(i).mend();
          }
        }
        tick();
      }
    }

    private void traffic(int seconds) {
      for (int tick = 0; tick < seconds * TICKS_A_SECOND; tick++) {
        tick();
      }
    }

    private void tick() {
      clock.advance(SECOND.dividedBy(TICKS_A_SECOND));
      Collections.shuffle(order, random);
      order.forEach(this::ask);
      if (ticks++ % 3 == 0) {
        nodes.forEach(node -> node.tend());
      }
    }

    /** Who is denied tries again a tick later, unless more than that is wanted by then. */
    private void ask(int i) {
      wanted[i] += demands[i];
      while (wanted[i] >= cost && nodes.get(i).check("a", cost).allowed()) {
        wanted[i] -= cost;
        admitted += cost;
      }
      wanted[i] = Math.min(wanted[i], Math.max(2.0 * cost, 2 * demands[i]));
    }
  }
}
