package dev.weir.decision;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * What a {@link Decider} tells of itself; read when scraped, so that deciding pays nothing for it.
 */
public final class DecisionMeters implements MeterBinder {

  private final Decider decider;

  public DecisionMeters(Decider decider) {
    this.decider = decider;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    decisions(registry, "allowed", "false", DecisionCounts::allowedCount);
    decisions(registry, "denied", "false", DecisionCounts::deniedCount);
    decisions(registry, "allowed", "true", DecisionCounts::degradedAllowedCount);
    decisions(registry, "denied", "true", DecisionCounts::degradedDeniedCount);
    decisions(registry, "refused", "true", DecisionCounts::refusedCount);
    Gauge.builder("weir.degraded", decider, d -> d.degraded() ? 1 : 0)
        .description("1 while this node decides without the store, for some keys at least")
        .register(registry);
    FunctionCounter.builder("weir.charges.forgotten", decider, Decider::forgottenCount)
        .description("Charges and returns dropped, since the store was away for too many of them")
        .register(registry);
    FunctionCounter.builder("weir.usage.uncounted", decider, Decider::uncountedUnits)
        .description("Units of decisions that no tally took, and that no usage tells of")
        .register(registry);
    FunctionCounter.builder("weir.would.deny", decider.decisions(), DecisionCounts::wouldDenyCount)
        .description("Requests allowed by a shadow plan that would have been denied without it")
        .register(registry);
    FunctionCounter.builder("weir.permits.leased", decider, Decider::leasedCount)
        .description("Permits that the store has granted to this node")
        .register(registry);
    DistributionSummary sizes =
        DistributionSummary.builder("weir.lease.size")
            .description("Permits of one lease")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    decider.onLease(sizes::record);
    Gauge.builder("weir.permits.outstanding", decider, Decider::outstanding)
        .description("Permits leased and not yet spent, of all keys")
        .register(registry);
    Gauge.builder("weir.keys", decider, Decider::keys)
        .description("Keys that this node holds in memory")
        .register(registry);
  }

  private void decisions(
      MeterRegistry registry,
      String outcome,
      String degraded,
      ToDoubleFunction<DecisionCounts> count) {
    FunctionCounter.builder("weir.decisions", decider.decisions(), count)
        .description("Decisions made")
        .tag("outcome", outcome)
        .tag("degraded", degraded)
        .register(registry);
  }
}
