package dev.weir.lease;

import java.util.List;

/**
 * One step on one key: every take of it, or none.
 *
 * @param key whose counters these are
 * @param takes one per limit concerned, in the plan's order, with distinct limit names
 */
public record Refill(String key, List<Take> takes) {
  public Refill {
    takes = List.copyOf(takes);
  }
}
