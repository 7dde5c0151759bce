package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.FixedWindow;
import dev.weir.config.OnStoreFailure;
import dev.weir.config.Plan;
import dev.weir.config.Shard;
import dev.weir.config.SlidingLog;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import dev.weir.decision.StoreDecision.Outcome.Decided;
import dev.weir.lease.Purpose;
import dev.weir.lease.RefillOutcome.Settled;
import dev.weir.lease.RefillOutcome.Verdict;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Invariant 7, as far as nodes that live have to do with it: every unit is counted, once. */
class UsagePropertyTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);

  enum Kind {
    CHECK,
    CHECK_NAMED,
    CHECK_ONCE,
    RESERVE,
    SETTLE,
    ADVANCE,
    TURN,
    HOLD,
    RELEASE,
    OVERDUE,
    LOSE,
    CUT,
    MEND,
    TEND,
    CHANGE,
    CLOSE
  }

  /**
   * What happens.
   *
   * @param key the number of one of four keys, of which a node holds two
   */
  record Step(Kind kind, int node, int key, int amount) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Kind> kind =
        Arbitraries.frequencyOf(
            Tuple.of(2, Arbitraries.just(Kind.CHECK)), Tuple.of(3, Arbitraries.of(Kind.values())));
    return Combinators.combine(
            kind,
            Arbitraries.integers().between(0, 2),
            Arbitraries.integers().between(0, 3),
            Arbitraries.integers().between(0, 12))
        .as(Step::new)
        .list()
        .ofMinSize(20)
        .ofMaxSize(300);
  }

  private static List<Plan> plans(int scale) {
    return List.of(
        Plans.bucket("bucket", 20 * scale, SECOND, 500L * scale),
        Plans.bucket("small", scale, SECOND, 5),
        Plans.onStoreFailure(OnStoreFailure.OPEN, Plans.bucket("open", 5, SECOND, 50L * scale)),
        Plans.onStoreFailure(OnStoreFailure.CLOSED, Plans.bucket("closed", 5, SECOND, 900)),
        Plans.of("window", new FixedWindow(40L * scale, new Every(Duration.ofSeconds(5)))),
        Plans.of("log", new SlidingLog(30L * scale, Duration.ofSeconds(5))),
        Plans.strict("strict", new TokenBucket(10, SECOND, 40)),
        new Plan(
            "both",
            List.of(
                Plans.limit("default", 50, SECOND, 200L * scale),
                Plans.limit("other", 20, SECOND, 400))),
        new Plan("free", List.of(), true, false, OnStoreFailure.DEGRADE));
  }

  @Property(tries = 500)
  void everyUnitIsCountedOnce(@ForAll("steps") List<Step> steps) {
    Fleet fleet = new Fleet(plans(1), UsagePropertyTest::plans);
    steps.forEach(fleet::run);
    fleet.end();
    assertThat(fleet.sum(CountedUsage::spent)).as("spent").isEqualTo(fleet.spent);
    assertThat(fleet.sum(CountedUsage::degraded)).as("degraded").isEqualTo(fleet.degraded);
    assertThat(fleet.sum(CountedUsage::denied)).as("denied").isEqualTo(fleet.denied);
    assertThat(fleet.sum(CountedUsage::wouldDeny)).as("would deny").isZero();
    for (Plan plan : plans(1)) {
      assertThat(fleet.sum(usage -> usage.spentUnder(plan.name())))
          .as(plan.name())
          .isEqualTo(fleet.spentUnder(plan.name()));
    }
  }

  @Property(tries = 200)
  void ofAShadowWhatItLetPassIsCountedApart(@ForAll("steps") List<Step> steps) {
    Fleet fleet = new Fleet(shadows(1), UsagePropertyTest::shadows);
    steps.forEach(fleet::run);
    fleet.end();
    assertThat(fleet.denied + fleet.sum(CountedUsage::denied)).isZero();
    assertThat(fleet.sum(CountedUsage::spent) + fleet.sum(CountedUsage::wouldDeny))
        .isEqualTo(fleet.spent);
  }

  private static List<Plan> shadows(int scale) {
    return plans(scale).stream().map(plan -> plan.unlimited() ? plan : Plans.shadow(plan)).toList();
  }

  /** Of what is reserved in one window and spent in another this is not so. */
  @Property(tries = 500)
  void inNoWindowIsMoreSpentWithTheStoreThanItHasAuthorized(@ForAll("steps") List<Step> steps) {
    Fleet fleet = new Fleet(plans(1), UsagePropertyTest::plans);
    steps.stream().filter(step -> step.kind() != Kind.SETTLE).forEach(fleet::run);
    fleet.end();
    List<Map<CountedUsage.Of, Long>> spent =
        fleet.nodes.stream().map(node -> node.usage.spentWithStore()).toList();
    spent.stream()
        .flatMap(of -> of.keySet().stream())
        .filter(of -> !of.plan().equals("free"))
        .distinct()
        .forEach(
            of ->
                assertThat(spent.stream().mapToLong(each -> each.getOrDefault(of, 0L)).sum())
                    .as("%s", of)
                    .isLessThanOrEqualTo(
                        fleet.nodes.stream()
                            .mapToLong(node -> node.usage.authorized().getOrDefault(of, 0L))
                            .max()
                            .orElse(0)));
  }

  /** Three nodes, and what their callers were told. */
  private static final class Fleet {
    private final VirtualClock clock = new VirtualClock();
    private final IntFunction<List<Plan>> plansAt;
    private final List<String> names;
    final List<TestNode> nodes = new ArrayList<>();
    private final List<ReservationId> reservations = new ArrayList<>();
    private final Map<String, Long> spentUnder = new HashMap<>();
    long spent;
    long degraded;
    long denied;
    private long unanswered;
    private int ids;

    Fleet(List<Plan> plans, IntFunction<List<Plan>> plansAt) {
      this.plansAt = plansAt;
      this.names = plans.stream().map(Plan::name).toList();
      Store store = TestStores.embedded(clock);
      for (int i = 0; i < 3; i++) {
        TestNode node = new TestNode(clock, store, Plans.config(plans.toArray(Plan[]::new)), 2);
        node.decider.nodes(3);
        nodes.add(node);
      }
    }

    void run(Step step) {
      TestNode node = nodes.get(step.node());
      CheckRequest request = CheckRequest.of("key" + step.key()).withCost(step.amount());
      String name = names.get((step.amount() + step.key()) % names.size());
      switch (step.kind()) {
        case CHECK -> check(node, request);
        case CHECK_NAMED -> check(node, request.withPlan(name));
        case CHECK_ONCE -> checkOnce(node, request.withPlan(name), step.amount() % 3);
        case RESERVE -> reserve(node, request.withPlan(name));
        case SETTLE -> settle(node, step.amount());
        case ADVANCE -> clock.advance(Duration.ofMillis(step.amount() * 37L));
        case TURN -> clock.advance(Duration.ofMillis(20_000L + step.amount()));
        case HOLD -> node.hold();
        case RELEASE -> node.release();
        case OVERDUE -> node.overdue();
        case LOSE -> node.loseAnswers();
        case CUT -> node.cut();
        case MEND -> node.mend();
        case TEND -> node.tend();
        case CHANGE -> change(1 + step.amount());
        case CLOSE -> node.usage.close();
      }
    }

    private void change(int scale) {
      List<Plan> plans = new ArrayList<>(plansAt.apply(scale));
      // Another one is the default from now on.
      Collections.rotate(plans, scale);
      nodes.forEach(node -> node.decider.configure(Plans.config(plans.toArray(Plan[]::new))));
    }

    private void check(TestNode node, CheckRequest request) {
      unanswered++;
      Decision decision = node.decider.decideAtOnce(request);
      Consumer<Decision> answer = told -> answered(told, request.cost());
      if (decision == null) {
        decision = node.decider.decideOrWait(request, answer);
      }
      if (decision != null) {
        answer.accept(decision);
      }
    }

    private void answered(Decision decision, long cost) {
      unanswered--;
      if (decision.allowed()) {
        spend(decision.plan(), cost);
        degraded += decision.degraded() ? cost : 0;
      } else {
        denied += cost;
      }
    }

    private void spend(String plan, long units) {
      spent += units;
      spentUnder.merge(plan, units, Long::sum);
    }

    long spentUnder(String plan) {
      return spentUnder.getOrDefault(plan, 0L);
    }

    /** What is repeated is not asked for a second time. */
    private void checkOnce(TestNode node, CheckRequest request, int repeats) {
      if (!node.decider.isDecidedByStore(request)) {
        check(node, request);
        return;
      }
      Purpose.Once once = new Purpose.Once("id" + ids++, "check");
      Purpose.Decide purpose = new Purpose.Decide(Optional.empty(), Optional.of(once));
      unanswered++;
      boolean held = decide(node, request, purpose, told -> answered(told, request.cost()));
      for (int i = 0; i < repeats && !held; i++) {
        decide(node, request, purpose, told -> repeated(told, request.cost()));
      }
    }

    /** While a key rests from an outage the store is not asked, so nobody knows of the first. */
    private void repeated(Decision decision, long cost) {
      if (decision.degraded()) {
        unanswered++;
        answered(decision, cost);
      }
    }

    /** Whether it is under way still, or the store had no say. */
    private static boolean decide(
        TestNode node, CheckRequest request, Purpose.Decide purpose, Consumer<Decision> answer) {
      boolean[] byStore = {false};
      node.decider.decideInStore(
          request,
          purpose,
          outcome -> {
            Decision decision = ((Decided) outcome).decision();
            byStore[0] = !decision.degraded();
            answer.accept(decision);
          });
      return !byStore[0];
    }

    private void reserve(TestNode node, CheckRequest request) {
      if (!node.decider.isLimited(request)) {
        return;
      }
      String id = "id" + ids++;
      unanswered++;
      node.decider.decideInStore(
          request,
          new Purpose.Decide(Optional.of(new Purpose.Reservation(id, MINUTE)), Optional.empty()),
          outcome -> {
            Decided decided = (Decided) outcome;
            if (decided.reservation().isPresent()) {
              unanswered--;
              reservations.add(
                  new ReservationId(
                      true, id, request.key(), decided.decision().plan(), Shard.WHOLE));
            } else {
              answered(decided.decision(), request.cost());
            }
          });
    }

    private void settle(TestNode node, int units) {
      if (reservations.isEmpty()) {
        return;
      }
      // Of an answer that comes late the caller is not told.
      node.release();
      ReservationId id = reservations.get(units % reservations.size());
      long part = units % 4 == 0 ? Purpose.Settle.ALL : units % 4;
      node.decider.settle(
          id.key(),
          id.shard(),
          id.plan(),
          new Purpose.Settle(id.unique(), part),
          outcome -> {
            if (outcome instanceof Settled settled && settled.verdict() == Verdict.SETTLED) {
              spend(id.plan(), part == Purpose.Settle.ALL ? settled.reserved() : part);
            }
          });
    }

    void end() {
      for (TestNode node : nodes) {
        node.mend();
        node.release();
        for (int i = 0; i < 3; i++) {
          node.decider.giveAllBack();
        }
        assertThat(node.decider.settled()).isTrue();
        assertThat(node.decider.uncountedUnits()).isZero();
      }
      assertThat(unanswered).isZero();
    }

    long sum(ToLongFunction<CountedUsage> count) {
      return nodes.stream().mapToLong(node -> count.applyAsLong(node.usage)).sum();
    }
  }
}
