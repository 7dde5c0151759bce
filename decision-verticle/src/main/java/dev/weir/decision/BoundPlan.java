package dev.weir.decision;

import dev.weir.config.Plan;

/**
 * A plan as one configuration epoch has it. A key is bound to one; comparing epochs tells whether
 * the binding still stands, without a look into the configuration. It holds no snapshot, which an
 * idle key would otherwise keep alive.
 */
final class BoundPlan {

  final long epoch;
  final Plan plan;
  final BoundLimit[] limits;

  /** Whether callers named the plan, so that the configuration may say otherwise of the key. */
  final boolean named;

  /** Whether the plan is one limit that applies to every request: the shape of the fast path. */
  final boolean single;

  BoundPlan(long epoch, Plan plan, boolean named) {
    this.epoch = epoch;
    this.plan = plan;
    this.named = named;
    this.limits = plan.limits().stream().map(BoundLimit::of).toArray(BoundLimit[]::new);
    this.single = limits.length == 1 && limits[0].limit().endpoints().isEmpty();
  }

  boolean applies(int limit, String endpoint) {
    return limits[limit].limit().appliesTo(endpoint);
  }
}
