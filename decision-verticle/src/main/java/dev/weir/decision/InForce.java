package dev.weir.decision;

import dev.weir.config.ConfigSnapshot;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Take;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * What holds for all keys of a node: the configuration, how many nodes there are, and how much may
 * be leased. Safe to use from any thread.
 */
final class InForce {

  private final LeaseCeiling ceilings;
  private final PlanDemand demand;
  private final AtomicLong epochs = new AtomicLong();
  private volatile BoundConfig config;
  private volatile int nodes = 1;

  InForce(LeaseCeiling ceilings, ConfigSnapshot snapshot, PlanDemand demand) {
    this.ceilings = ceilings;
    this.demand = demand;
    this.config = new BoundConfig(snapshot, epochs.incrementAndGet(), demand);
  }

  BoundConfig config() {
    return config;
  }

  void configure(ConfigSnapshot snapshot) {
    demand.keepOnly(snapshot.plans().keySet());
    config = new BoundConfig(snapshot, epochs.incrementAndGet(), demand);
  }

  int nodes() {
    return nodes;
  }

  void nodes(int count) {
    nodes = count;
  }

  LeaseCeiling ceilings() {
    return ceilings;
  }

  /**
   * The plan of a request in {@code config}.
   *
   * @param entry of {@code key}, or null
   * @param name of the plan that the caller named; empty for none
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  static BoundPlan planOf(BoundConfig config, KeyEntry entry, String key, String name) {
    if (entry != null) {
      // Also lest a key with numbers of its own has them worked out again for every request.
      BoundPlan bound = entry.bound();
      if (bound.epoch == config.epoch()
          && (name.isEmpty() ? !bound.named : bound.named && bound.plan.name().equals(name))) {
        return bound;
      }
    }
    return name.isEmpty() ? config.planOf(key) : config.named(name, key);
  }

  /** The plan that now holds for {@code key} where {@code bound} did; itself if nothing does. */
  BoundPlan current(BoundPlan bound, String key) {
    BoundConfig current = config;
    return bound.epoch == current.epoch() ? bound : current.successorOf(bound, key).orElse(bound);
  }

  /** Applies a change of the configuration to a key that may hold permits under the old one. */
  void rebind(KeyEntry entry, Consumer<Take> orphans) {
    BoundPlan bound = entry.bound();
    BoundPlan current = current(bound, entry.key);
    if (current != bound) {
      entry.bind(current, orphans);
    } else if (bound.epoch != config.epoch()) {
      // Nothing limits the key any more.
      entry.giveBackAll();
    }
  }
}
