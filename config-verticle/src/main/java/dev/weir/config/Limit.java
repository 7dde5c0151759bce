package dev.weir.config;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * One limit of a plan.
 *
 * @param name unique in its plan; also names the limit's counters in the store, so that renaming a
 *     limit forgets what was used of it
 * @param endpoints that it applies to; empty for all requests, with an endpoint or without
 * @param algorithm how it counts
 * @param strict whether every decision asks the store, and no permit is leased
 * @param shard over how many sub-counters it is divided, and which of them this is: all, of a
 *     plan's limit
 */
public record Limit(
    String name, Set<String> endpoints, Algorithm algorithm, boolean strict, Shard shard) {

  /** The name of a limit that was given none. */
  public static final String DEFAULT_NAME = "default";

  static final String NAME_RULE = "must be 1 to 64 letters, digits, '_', '.' or '-'";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

  /**
   * @throws IllegalArgumentException if the name has characters other than letters, digits and
   *     {@code _ . -}, which a name in the store and in a structured header field cannot hold, or a
   *     log is divided
   */
  public Limit {
    if (!isName(name)) {
      throw new IllegalArgumentException("name: " + NAME_RULE + ", was " + Errors.shown(name));
    }
    endpoints = Set.copyOf(endpoints);
    if (shard.of() > 1 && algorithm instanceof SlidingLog) {
      throw new IllegalArgumentException("shards: a sliding_log cannot be divided");
    }
  }

  /** A limit that is not divided. */
  public Limit(String name, Set<String> endpoints, Algorithm algorithm, boolean strict) {
    this(name, endpoints, algorithm, strict, Shard.WHOLE);
  }

  /** A limit whose permits may be leased. */
  public Limit(String name, Set<String> endpoints, Algorithm algorithm) {
    this(name, endpoints, algorithm, false);
  }

  /** Whether permits of it may be taken ahead of the requests that spend them. */
  public boolean leased() {
    return !strict && algorithm.leasable();
  }

  /** The same that counts in another way. */
  Limit with(Algorithm other) {
    return new Limit(name, endpoints, other, strict, shard);
  }

  /**
   * The sub-counter {@code number} of it, with its part of the numbers.
   *
   * @param number 1 to the number of sub-counters
   */
  public Limit part(int number) {
    Shard part = new Shard(number, shard.of());
    return new Limit(name, endpoints, algorithm.part(part), strict, part);
  }

  static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  /** Whether a request to {@code endpoint} (empty for none) has to pass this limit. */
  public boolean appliesTo(String endpoint) {
    return endpoints.isEmpty() || endpoints.contains(endpoint);
  }
}
