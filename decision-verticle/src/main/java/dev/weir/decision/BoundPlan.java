package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitPolicy;
import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A plan as one configuration epoch has it. A key is bound to one; comparing epochs tells whether
 * the binding still stands, without a look into the configuration. It holds no snapshot, which an
 * idle key would otherwise keep alive.
 */
final class BoundPlan {

  /** Of a plan without limits: headers and bodies have numbers even so. */
  private static final LimitStatus UNLIMITED =
      new LimitStatus(new LimitPolicy("unlimited", Algorithm.MAX_QUOTA, 1), Algorithm.MAX_QUOTA, 0);

  private static final List<LimitStatus> NONE_BUT_UNLIMITED = List.of(UNLIMITED);

  final long epoch;
  final Plan plan;
  final BoundLimit[] limits;

  /** By sub-counter, then as {@code limits}, which are the only ones if they are not divided. */
  final BoundLimit[][] counters;

  /** Whether callers named the plan, so that the configuration may say otherwise of the key. */
  final boolean named;

  /** Whether the plan is one limit that applies to every request: the shape of the fast path. */
  final boolean single;

  /** Where what is asked for of it is added; null while regions do not divide it. */
  private final LongAdder demand;

  /** Of a plan that regions do not divide. */
  BoundPlan(long epoch, Plan plan, boolean named) {
    this(epoch, plan, named, null);
  }

  private BoundPlan(long epoch, Plan plan, boolean named, LongAdder demand) {
    this.epoch = epoch;
    this.plan = plan;
    this.named = named;
    this.demand = demand;
    this.limits = plan.limits().stream().map(BoundLimit::of).toArray(BoundLimit[]::new);
    this.counters =
        plan.shards() == 1
            ? new BoundLimit[][] {limits}
            : IntStream.rangeClosed(1, plan.shards())
                .mapToObj(number -> partsOf(plan, number))
                .toArray(BoundLimit[][]::new);
    this.single = limits.length == 1 && limits[0].limit().endpoints().isEmpty();
  }

  private static BoundLimit[] partsOf(Plan plan, int number) {
    return plan.limits().stream()
        .map(limit -> BoundLimit.of(limit.part(number)))
        .toArray(BoundLimit[]::new);
  }

  /** The largest cost that a limit can ever hold: if it is divided, of one sub-counter. */
  long largest(int limit) {
    return counters[0][limit].quota();
  }

  /** Whether the limits are divided over sub-counters. */
  boolean divided() {
    return counters.length > 1;
  }

  /** The same, which adds what is asked for of it to {@code asked}. */
  BoundPlan countedBy(LongAdder asked) {
    return new BoundPlan(epoch, plan, named, asked);
  }

  /** The same of a key that has numbers of its own: {@code own} in place of the plan's. */
  BoundPlan with(Plan own) {
    return new BoundPlan(epoch, own, named, demand);
  }

  /** Counts permits that requests have asked for. */
  void asked(long permits) {
    if (demand != null) {
      demand.add(permits);
    }
  }

  /** Whether it allows everything; such a plan binds no key. */
  boolean unlimited() {
    return limits.length == 0;
  }

  /** The decision on each request of {@code key} under an {@link #unlimited} plan. */
  Decision allowUnlimited(String key) {
    return new Decision.Allowed(key, plan.name(), UNLIMITED, NONE_BUT_UNLIMITED, 0, false);
  }

  /**
   * The decision as the caller gets it: a shadow plan denies nothing, and tells by its numbers what
   * it would have denied.
   */
  Decision told(Decision decision) {
    return decision.allowed() || !plan.shadow()
        ? decision
        : new Decision.Allowed(
            decision.key(),
            decision.plan(),
            decision.status(),
            decision.limits(),
            decision.staleMillis(),
            decision.degraded());
  }

  /** Whether a limit that is {@code such} applies to requests to the endpoint. */
  boolean appliesTo(String endpoint, Predicate<Limit> such) {
    return plan.limits().stream().anyMatch(l -> l.appliesTo(endpoint) && such.test(l));
  }

  boolean applies(int limit, String endpoint) {
    return limits[limit].limit().appliesTo(endpoint);
  }
}
