package dev.weir.config;

import java.util.Map;
import java.util.Optional;

/**
 * The configuration at one moment. Immutable; a change makes a new snapshot.
 *
 * @param version of plans and endpoints; grows with each change of them
 * @param defaultPlan of keys without an assignment; empty to refuse such keys
 * @param plans by name
 * @param endpoints weights by endpoint name, permits
 * @param gateway how requests that a gateway asks about become checks
 * @param regions which part of the limits this region enforces
 * @param assignments plan names by key; not copied, since there may be very many, so it must not
 *     change
 * @param overrides what keys have in place of their plan's numbers; not copied either
 */
public record ConfigSnapshot(
    long version,
    Optional<String> defaultPlan,
    Map<String, Plan> plans,
    Map<String, Long> endpoints,
    Gateway gateway,
    Regions regions,
    Map<String, String> assignments,
    Map<String, KeyOverride> overrides) {

  /** The weight of a request without an endpoint, or to one that has no weight of its own. */
  public static final long DEFAULT_WEIGHT = 1;

  public ConfigSnapshot {
    plans = Map.copyOf(plans);
    endpoints = Map.copyOf(endpoints);
  }

  /** One of a single region, in which no key has numbers of its own. */
  public ConfigSnapshot(
      long version,
      Optional<String> defaultPlan,
      Map<String, Plan> plans,
      Map<String, Long> endpoints,
      Gateway gateway,
      Map<String, String> assignments) {
    this(version, defaultPlan, plans, endpoints, gateway, Regions.NONE, assignments, Map.of());
  }

  /** Permits that a request to {@code endpoint} (empty for none) costs. */
  public long weight(String endpoint) {
    return endpoint.isEmpty() ? DEFAULT_WEIGHT : endpoints.getOrDefault(endpoint, DEFAULT_WEIGHT);
  }

  /**
   * The endpoint of a request that came through a gateway, see {@link Gateway#endpointOf}; empty if
   * no rule matches.
   */
  public String endpointOf(String method, String target) {
    return gateway.endpointOf(method, target, this::weight);
  }

  /** The plan of {@code key}: its assignment, else the default; empty if there is neither. */
  public Optional<Plan> planOf(String key) {
    String assigned = assignments.get(key);
    String name = assigned != null ? assigned : defaultPlan.orElse("");
    return Optional.ofNullable(plans.get(name));
  }

  /** {@code plan} as this region enforces it for keys that have nothing of their own. */
  public Plan enforced(Plan plan) {
    return regions.enforced(plan);
  }

  /**
   * {@code plan} as this region enforces it for {@code key}, which has numbers or weights of its
   * own; empty if it has not.
   */
  public Optional<Plan> ownPlan(String key, Plan plan) {
    return Optional.ofNullable(overrides.get(key))
        .map(
            override ->
                override.regions().isEmpty()
                    ? regions.enforced(override.appliedTo(plan))
                    : regions.enforced(override.appliedTo(plan), override.regions()));
  }

  /** The plan named {@code name}. */
  public Optional<Plan> plan(String name) {
    return Optional.ofNullable(plans.get(name));
  }
}
