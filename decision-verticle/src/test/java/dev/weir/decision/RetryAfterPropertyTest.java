package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.config.Plan;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/** Whether a node that holds permits tells when to come again. */
class RetryAfterPropertyTest {

  /** A check of a cost, some time after the one before. */
  record Check(int cost, int afterMillis) {}

  @Provide
  Arbitrary<List<Check>> checks() {
    return Combinators.combine(
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
  void whoWaitsAsLongAsToldIsAdmitted(
      @ForAll("checks") List<Check> checks,
      @ForAll @IntRange(min = 0, max = 2) int kind,
      @ForAll @IntRange(min = 10, max = 2000) int quota) {
    Plan plan = Plans.divided("p", 1, Plans.leasable(kind, quota), false);
    VirtualClock clock = new VirtualClock();
    TestNode node = new TestNode(clock, TestStores.embedded(clock), Plans.config(plan), 10);
    for (Check check : checks) {
      clock.advance(Duration.ofMillis(check.afterMillis));
      node.tend();
      int cost = check.cost * Math.max(1, quota / 100);
      Decision decision = node.check("a", cost);
      if (decision instanceof Denied denied && denied.reason() == Decision.Reason.LIMIT) {
        clock.advance(Duration.ofMillis(denied.retryAfterMillis()));
        node.tend();
        assertThat(node.check("a", cost).allowed()).as("%s, waited", check).isTrue();
      }
    }
  }
}
