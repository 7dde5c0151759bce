package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Plan;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A configuration snapshot with its plans made ready for deciding. Immutable. */
final class BoundConfig {

  private final ConfigSnapshot snapshot;
  private final long epoch;
  private final Map<String, BoundPlan> configured = new HashMap<>();
  private final Map<String, BoundPlan> named = new HashMap<>();

  /**
   * @param epoch distinct for every snapshot that this process has seen
   * @param demand counts what is asked for of plans that regions divide
   */
  BoundConfig(ConfigSnapshot snapshot, long epoch, PlanDemand demand) {
    this.snapshot = snapshot;
    this.epoch = epoch;
    snapshot
        .plans()
        .forEach(
            (name, plan) -> {
              Plan enforced = snapshot.enforced(plan);
              configured.put(name, counted(new BoundPlan(epoch, enforced, false), demand));
              named.put(name, counted(new BoundPlan(epoch, enforced, true), demand));
            });
  }

  private BoundPlan counted(BoundPlan plan, PlanDemand demand) {
    return snapshot.regions().divided() ? plan.countedBy(demand.of(plan.plan.name())) : plan;
  }

  ConfigSnapshot snapshot() {
    return snapshot;
  }

  long epoch() {
    return epoch;
  }

  /** Permits that {@code request} costs. */
  long cost(CheckRequest request) {
    return cost(request.endpoint(), request.cost());
  }

  /** The same of a request that says {@code cost}. */
  long cost(String endpoint, long cost) {
    return cost == CheckRequest.COST_OF_ENDPOINT ? snapshot.weight(endpoint) : cost;
  }

  /**
   * The plan of {@code key}.
   *
   * @throws CheckRefusedException with code 403 if it has none
   */
  BoundPlan planOf(String key) {
    return snapshot
        .planOf(key)
        .map(plan -> ownOf(key, configured.get(plan.name())))
        .orElseThrow(
            () -> CheckRefusedException.unknownKey("key: has no plan, and there is no default"));
  }

  /** {@code plan} with what {@code key} has of its own, if it has something. */
  private BoundPlan ownOf(String key, BoundPlan plan) {
    return snapshot
        .ownPlan(key, snapshot.plans().get(plan.plan.name()))
        .filter(own -> !own.equals(plan.plan))
        .map(plan::with)
        .orElse(plan);
  }

  /**
   * What a key bound to {@code former} in an earlier epoch is bound to now; empty if nothing limits
   * it any more.
   */
  Optional<BoundPlan> successorOf(BoundPlan former, String key) {
    Optional<BoundPlan> successor =
        former.named
            ? Optional.ofNullable(named.get(former.plan.name()))
            : snapshot.planOf(key).map(plan -> configured.get(plan.name()));
    return successor.filter(plan -> !plan.unlimited()).map(plan -> ownOf(key, plan));
  }

  /**
   * The plan that a caller named for {@code key}.
   *
   * @throws CheckRefusedException with code 404 if there is none of that name
   */
  BoundPlan named(String name, String key) {
    return find(name, key)
        .orElseThrow(
            () -> CheckRefusedException.unknownPlan("plan: '" + name + "' does not exist"));
  }

  /** The same; empty if there is none of that name. */
  Optional<BoundPlan> find(String name, String key) {
    return Optional.ofNullable(named.get(name)).map(plan -> ownOf(key, plan));
  }
}
