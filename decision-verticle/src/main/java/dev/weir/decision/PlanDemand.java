package dev.weir.decision;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The permits that requests have asked for, by plan: those that the store granted, and those of
 * requests that were denied or decided without it. Decisions from permits that are held leave no
 * mark here, as in {@link HotKeys}. Safe to use from any thread.
 */
final class PlanDemand {

  private final Map<String, LongAdder> permits = new ConcurrentHashMap<>();

  /** Where what is asked for of {@code plan} is to be added. */
  LongAdder of(String plan) {
    return permits.computeIfAbsent(plan, name -> new LongAdder());
  }

  /** Totals so far; a plan that has gone and come back begins anew. */
  Map<String, Long> totals() {
    Map<String, Long> totals = new TreeMap<>();
    permits.forEach((plan, asked) -> totals.put(plan, asked.sum()));
    return totals;
  }

  /** Forgets all plans but {@code plans}. */
  void keepOnly(Set<String> plans) {
    permits.keySet().retainAll(plans);
  }
}
