package dev.weir.config;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A named contract.
 *
 * @param name 1 to 128 characters
 * @param limits that every request has to pass, at least one, with distinct names
 */
public record Plan(String name, List<Limit> limits) {

  /** Most limits in one plan. */
  public static final int MAX_LIMITS = 16;

  /**
   * @throws IllegalArgumentException if there is no limit, there are more than {@value
   *     #MAX_LIMITS}, or two have the same name
   */
  public Plan {
    if (name.isEmpty() || name.length() > 128) {
      throw new IllegalArgumentException("plan: name must be 1 to 128 characters");
    }
    limits = List.copyOf(limits);
    if (limits.isEmpty() || limits.size() > MAX_LIMITS) {
      throw new IllegalArgumentException("limits: must be 1 to " + MAX_LIMITS);
    }
    Set<String> names = new HashSet<>();
    for (Limit limit : limits) {
      if (!names.add(limit.name())) {
        throw new IllegalArgumentException("limits: two are named '" + limit.name() + "'");
      }
    }
  }
}
