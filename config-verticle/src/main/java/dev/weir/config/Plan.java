package dev.weir.config;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A named contract.
 *
 * @param name 1 to 128 characters, none of them a control character
 * @param limits that every request has to pass, with distinct names, all divided over as many
 *     sub-counters; none if and only if the plan is unlimited
 * @param unlimited whether every request is allowed
 * @param shadow whether decisions are made and counted, and none of them denies
 * @param onStoreFailure what to do while the store is away
 * @param regions which part of its limits each region has to begin with; empty for what the table
 *     of regions says
 */
public record Plan(
    String name,
    List<Limit> limits,
    boolean unlimited,
    boolean shadow,
    OnStoreFailure onStoreFailure,
    RegionWeights regions) {

  /** Most limits in one plan. */
  public static final int MAX_LIMITS = 16;

  /**
   * @throws IllegalArgumentException if the name is not one, there is no limit though the plan is
   *     not unlimited, there are more than {@value #MAX_LIMITS}, two have the same name or other
   *     shards, or an unlimited plan has limits, is a shadow, minds the store, or is divided
   */
  public Plan {
    Names.faultOfName(name)
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException("plan: " + fault);
            });
    limits = List.copyOf(limits);
    if (unlimited
        && (shadow
            || !limits.isEmpty()
            || onStoreFailure != OnStoreFailure.DEGRADE
            || !regions.isEmpty())) {
      throw new IllegalArgumentException("unlimited: must stand alone");
    }
    if ((limits.isEmpty() && !unlimited) || limits.size() > MAX_LIMITS) {
      throw new IllegalArgumentException("limits: must be 1 to " + MAX_LIMITS);
    }
    Set<String> names = new HashSet<>();
    for (Limit limit : limits) {
      if (!names.add(limit.name())) {
        throw new IllegalArgumentException("limits: two are named '" + limit.name() + "'");
      }
      if (!limit.shard().equals(limits.get(0).shard())) {
        throw new IllegalArgumentException("limits: all must have the same shards");
      }
    }
  }

  /** A plan that has no weights of regions of its own. */
  public Plan(
      String name,
      List<Limit> limits,
      boolean unlimited,
      boolean shadow,
      OnStoreFailure onStoreFailure) {
    this(name, limits, unlimited, shadow, onStoreFailure, RegionWeights.NONE);
  }

  /** A plan that denies what its limits do not admit, in part if the store is away. */
  public Plan(String name, List<Limit> limits) {
    this(name, limits, false, false, OnStoreFailure.DEGRADE);
  }

  /** A plan that allows everything. */
  public static Plan unlimited(String name) {
    return new Plan(name, List.of(), true, false, OnStoreFailure.DEGRADE);
  }

  /** Over how many sub-counters each of its limits is divided; 1 if they are not. */
  public int shards() {
    return limits.isEmpty() ? 1 : limits.get(0).shard().of();
  }

  /** This plan with other limits, none only if it is unlimited. */
  Plan withLimits(List<Limit> newLimits) {
    return new Plan(name, newLimits, unlimited, shadow, onStoreFailure, regions);
  }
}
