package dev.weir.decision;

import java.util.Map;

/**
 * The keys that stood out on a node in the last 30 to 60 seconds. Counts are estimates if there
 * were very many keys.
 *
 * @param taken permits that the node took from the store, by key
 * @param denied requests that the node denied, by key
 */
public record HotKeyCounts(Map<String, Long> taken, Map<String, Long> denied) {
  public HotKeyCounts {
    taken = Map.copyOf(taken);
    denied = Map.copyOf(denied);
  }
}
