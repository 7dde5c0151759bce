package dev.weir.config;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A named contract.
 *
 * @param name 1 to 128 characters, none of them a control character
 * @param limits that every request has to pass, at least one, with distinct names
 */
public record Plan(String name, List<Limit> limits) {

  /** Most limits in one plan. */
  public static final int MAX_LIMITS = 16;

  /**
   * @throws IllegalArgumentException if the name is not one, there is no limit, there are more than
   *     {@value #MAX_LIMITS}, or two have the same name
   */
  public Plan {
    Names.faultOfName(name)
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException("plan: " + fault);
            });
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
