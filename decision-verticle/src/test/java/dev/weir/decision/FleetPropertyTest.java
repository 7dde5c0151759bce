package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/** A fleet in front of one store, under any interleaving of traffic and trouble. */
class FleetPropertyTest {

  private static final Duration YEAR = Duration.ofDays(365);
  private static final Duration DECADE = Duration.ofDays(3660);

  enum Kind {
    CHECK,
    ADVANCE,
    HOLD,
    RELEASE,
    OVERDUE,
    CUT,
    MEND,
    TEND,
    CHANGE
  }

  record Step(Kind kind, int node, int amount) {}

  @Provide
  Arbitrary<List<Step>> healthy() {
    return steps(Kind.CHECK, Kind.ADVANCE, Kind.HOLD, Kind.RELEASE, Kind.TEND);
  }

  @Provide
  Arbitrary<List<Step>> troubled() {
    return steps(
        Kind.CHECK,
        Kind.ADVANCE,
        Kind.HOLD,
        Kind.RELEASE,
        Kind.OVERDUE,
        Kind.CUT,
        Kind.MEND,
        Kind.TEND,
        Kind.CHANGE);
  }

  private static Arbitrary<List<Step>> steps(Kind... kinds) {
    Arbitrary<Kind> kind =
        Arbitraries.frequencyOf(
            Tuple.of(kinds.length, Arbitraries.just(Kind.CHECK)),
            Tuple.of(kinds.length, Arbitraries.of(kinds)));
    return Combinators.combine(
            kind, Arbitraries.integers().between(0, 2), Arbitraries.integers().between(0, 40))
        .as(Step::new)
        .list()
        .ofMinSize(20)
        .ofMaxSize(300);
  }

  /** Invariants 1, 3 and 10. */
  @Property(tries = 300)
  void admitsNoMoreThanTheLimitAndWhatIsOutstanding(
      @ForAll("healthy") List<Step> steps,
      @ForAll @IntRange(min = 1, max = 5_000) int capacity,
      @ForAll @IntRange(min = 1, max = 2_000) int perSecond,
      @ForAll @IntRange(min = 1, max = 5) int shards) {
    Algorithm bucket = new TokenBucket(perSecond, Duration.ofSeconds(1), capacity);
    Fleet fleet = new Fleet(Plans.divided("p", shards, bucket, false));
    double tolerated = 0.01 * (capacity + perSecond * 60.0);
    for (Step step : steps) {
      fleet.run(step);
      double elapsedSeconds = fleet.clock.micros() / 1e6;
      assertThat((double) fleet.admitted())
          .isLessThanOrEqualTo(capacity + perSecond * elapsedSeconds + tolerated + 1e-6);
    }
  }

  /** A window's permits are spent in it or nowhere. */
  @Property(tries = 300)
  void aFixedWindowAdmitsAtMostItsLimit(
      @ForAll("healthy") List<Step> steps,
      @ForAll @IntRange(min = 1, max = 5_000) int limit,
      @ForAll @IntRange(min = 50, max = 10_000) int millis,
      @ForAll @IntRange(min = 1, max = 5) int shards) {
    admitsAtMostTheLimitInAWindow(
        steps, new FixedWindow(limit, new Every(Duration.ofMillis(millis))), millis, shards);
  }

  @Property(tries = 300)
  void aSlidingWindowAdmitsAtMostItsLimitInAWindow(
      @ForAll("healthy") List<Step> steps,
      @ForAll @IntRange(min = 1, max = 5_000) int limit,
      @ForAll @IntRange(min = 50, max = 10_000) int millis,
      @ForAll @IntRange(min = 1, max = 5) int shards) {
    admitsAtMostTheLimitInAWindow(
        steps, new SlidingWindow(limit, Duration.ofMillis(millis)), millis, shards);
  }

  private static void admitsAtMostTheLimitInAWindow(
      List<Step> steps, Algorithm algorithm, long millis, int shards) {
    long turn = turnOfWindow(millis);
    Fleet fleet = new Fleet(Plans.divided("p", shards, algorithm, false));
    Map<Long, Long> admitted = new HashMap<>();
    long before = 0;
    for (Step step : steps) {
      fleet.run(step);
      long after = fleet.admitted();
      long window = Math.floorDiv(fleet.clock.micros() / 1000 - turn, millis);
      assertThat(admitted.merge(window, after - before, Long::sum))
          .isLessThanOrEqualTo(algorithm.quota());
      before = after;
    }
  }

  /** When a window of the key ends, whole milliseconds of the fleet's clock, rounded up. */
  private static long turnOfWindow(long millis) {
    Plan plan = Plans.of("p", new FixedWindow(1, new Every(Duration.ofMillis(millis))));
    return new Fleet(plan).nodes.get(0).inspect("a").statuses().get(0).resetAfterMillis();
  }

  @Property(tries = 300)
  void aLogAdmitsAtMostItsLimitInAnySpanOfAWindow(
      @ForAll("healthy") List<Step> steps,
      @ForAll @IntRange(min = 1, max = 500) int limit,
      @ForAll @IntRange(min = 50, max = 10_000) int millis) {
    Fleet fleet = new Fleet(Plans.of("p", new SlidingLog(limit, Duration.ofMillis(millis))));
    NavigableMap<Long, Long> admitted = new TreeMap<>();
    long before = 0;
    for (Step step : steps) {
      fleet.run(step);
      long after = fleet.admitted();
      long now = fleet.clock.micros() / 1000;
      admitted.merge(now, after - before, Long::sum);
      assertThat(
              admitted.tailMap(now - millis, false).values().stream()
                  .mapToLong(Long::longValue)
                  .sum())
          .isLessThanOrEqualTo(limit);
      before = after;
    }
  }

  /** Every unit spent, with the store or without it, is charged to the store once, in the end. */
  @Property(tries = 300)
  void theStoreLearnsOfEveryUnitSpentAndOfNoOther(
      @ForAll("troubled") List<Step> steps,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 1, max = 5) int shards) {
    Fleet fleet = new Fleet(Plans.divided("p", shards, slowest(kind, 100_000_000), false));
    fleet.kinds = List.of(kind);
    fleet.shards = shards;
    steps.forEach(fleet::run);
    fleet.settle();
    long left = fleet.nodes.get(0).inspect("a").statuses().get(0).remaining();
    long capacity = fleet.capacity;
    assertThat(capacity - left).isEqualTo(fleet.admitted());
    assertThat(fleet.unanswered()).isZero();
  }

  /** From one algorithm to another nobody gets a unit twice. */
  @Property(tries = 300)
  void noChangeOfTheAlgorithmForgetsAUnit(@ForAll("troubled") List<Step> steps) {
    Fleet fleet = new Fleet(Plans.of("p", slowest(0, 100_000_000)));
    fleet.kinds = List.of(0, 1, 2, 3);
    steps.forEach(fleet::run);
    fleet.settle();
    long left = fleet.nodes.get(0).inspect("a").statuses().get(0).remaining();
    assertThat(fleet.capacity - left).isGreaterThanOrEqualTo(fleet.admitted());
    assertThat(fleet.unanswered()).isZero();
  }

  /** Of which nothing comes back in the time that a test takes. */
  private static Algorithm slowest(int kind, long quota) {
    return switch (kind) {
      case 0 -> new TokenBucket(5, YEAR, quota);
      case 1 -> new FixedWindow(quota, new Every(DECADE));
      case 2 -> new SlidingWindow(quota, DECADE);
      default -> new SlidingLog(quota, DECADE);
    };
  }

  /** Three nodes and what was asked of them. */
  private static final class Fleet {
    final VirtualClock clock = new VirtualClock();
    final List<TestNode> nodes = new ArrayList<>();
    private final List<Long> costs = new ArrayList<>();
    private final List<List<Decision>> answers = new ArrayList<>();
    long capacity;

    /** Of the algorithms that a change chooses from. */
    List<Integer> kinds = List.of(0);

    /** That a change keeps. */
    int shards = 1;

    Fleet(Plan plan) {
      Store store = TestStores.embedded(clock);
      capacity = plan.limits().get(0).algorithm().quota();
      for (int i = 0; i < 3; i++) {
        TestNode node = new TestNode(clock, store, Plans.config(plan), 1000);
        node.decider.nodes(3);
        nodes.add(node);
      }
    }

    void run(Step step) {
      TestNode node = nodes.get(step.node());
      switch (step.kind()) {
        case CHECK -> check(node, step.amount());
        case ADVANCE -> clock.advance(Duration.ofMillis(step.amount() * 37L));
        case HOLD -> node.hold();
        case RELEASE -> node.release();
        case OVERDUE -> node.overdue();
        case CUT -> node.cut();
        case MEND -> node.mend();
        case TEND -> node.tend();
        case CHANGE -> change(step.amount());
      }
    }

    private void check(TestNode node, long cost) {
      costs.add(cost);
      answers.add(node.ask(CheckRequest.of("a").withCost(cost)));
    }

    private void change(int amount) {
      capacity = 100_000_000L + amount;
      Algorithm changed = slowest(kinds.get(amount % kinds.size()), capacity);
      Plan plan = Plans.divided("p", shards, changed, false);
      nodes.forEach(node -> node.decider.configure(Plans.config(plan)));
    }

    long admitted() {
      long sum = 0;
      for (int i = 0; i < answers.size(); i++) {
        for (Decision decision : answers.get(i)) {
          assertThat(decision.remaining()).isBetween(0L, decision.limit());
          sum += decision.allowed() ? costs.get(i) : 0;
        }
      }
      return sum;
    }

    long unanswered() {
      return answers.stream().filter(answer -> answer.size() != 1).count();
    }

    void settle() {
      for (TestNode node : nodes) {
        node.mend();
        node.release();
        for (int i = 0; i < 3; i++) {
          node.decider.giveAllBack();
        }
        assertThat(node.decider.settled()).isTrue();
      }
    }
  }
}
