package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.config.Algorithm;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.lease.Store;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/** Whether a limit that is divided admits what some sub-counter has room for, and nothing else. */
class ShardedLimitPropertyTest {

  /** A check of a cost by one of three nodes, some time after the one before. */
  record Check(int node, int cost, int afterMillis) {}

  @Provide
  Arbitrary<List<Check>> checks() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.integers().between(1, 9),
            Arbitraries.frequencyOf(
                Tuple.of(3, Arbitraries.just(0)),
                Tuple.of(1, Arbitraries.integers().between(1, 700))))
        .as(Check::new)
        .list()
        .ofMinSize(20)
        .ofMaxSize(200);
  }

  @Property(tries = 300)
  void aStrictLimitAdmitsWhatSomeSubCounterHasRoomFor(
      @ForAll("checks") List<Check> checks,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 10, max = 200) int quota,
      @ForAll @IntRange(min = 2, max = 8) int shards) {
    Plan plan = Plans.divided("p", shards, Plans.leasable(kind, quota), true);
    VirtualClock clock = new VirtualClock();
    Store store = TestStores.embedded(clock);
    List<TestNode> nodes =
        Stream.generate(() -> new TestNode(clock, store, Plans.config(plan), 10)).limit(3).toList();
    for (Check check : checks) {
      clock.advance(Duration.ofMillis(check.afterMillis));
      boolean fits = mostRoom(store, plan) >= check.cost;
      Decision decision = nodes.get(check.node).check("a", check.cost);
      assertThat(decision.allowed()).as("%s", check).isEqualTo(fits);
      assertThat(decision.remaining()).isBetween(0L, (long) quota);
    }
  }

  @Property(tries = 300)
  void aNodeDeniesWhatNoSubCounterHasRoomForBesideWhatItHolds(
      @ForAll("checks") List<Check> checks,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 10, max = 2000) int quota,
      @ForAll @IntRange(min = 2, max = 8) int shards) {
    Plan plan = Plans.divided("p", shards, Plans.leasable(kind, quota), false);
    VirtualClock clock = new VirtualClock();
    Store store = TestStores.embedded(clock);
    TestNode node = new TestNode(clock, store, Plans.config(plan), 10);
    for (Check check : checks) {
      clock.advance(Duration.ofMillis(check.afterMillis));
      node.tend();
      int cost = check.cost * Math.max(1, quota / 100);
      long room = mostRoom(store, plan) + node.decider.outstanding();
      Decision decision = node.check("a", cost);
      if (decision instanceof Denied denied && denied.reason() == Decision.Reason.LIMIT) {
        assertThat(room).as("%s", check).isLessThan(cost);
        // Permits of a sliding window that are held may be gone when it turns.
        if (kind < 2) {
          clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
          node.tend();
          assertThat(node.check("a", cost).allowed()).as("%s, waited", check).isTrue();
        }
      }
    }
  }

  /** Of the sub-counter that has most. */
  private static long mostRoom(Store store, Plan plan) {
    Limit limit = plan.limits().get(0);
    return IntStream.rangeClosed(1, plan.shards())
        .mapToLong(
            number -> {
              Algorithm part = limit.part(number).algorithm();
              return part.free(TestStores.level(store, "a", limit.part(number)));
            })
        .max()
        .orElseThrow();
  }
}
