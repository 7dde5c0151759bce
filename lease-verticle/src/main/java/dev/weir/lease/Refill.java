package dev.weir.lease;

import java.util.List;

/**
 * One step on one key: every take of it, or none.
 *
 * @param key whose counters these are
 * @param takes one per limit concerned, in the plan's order, with distinct limit names
 * @param purpose of the step
 */
public record Refill(String key, List<Take> takes, Purpose purpose) {
  private static final Purpose LEASE = new Purpose.Lease();

  public Refill {
    takes = List.copyOf(takes);
  }

  /** For permits that a node spends, or gives back. */
  public Refill(String key, List<Take> takes) {
    this(key, takes, LEASE);
  }
}
