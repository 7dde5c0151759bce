package dev.weir.config;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Assignments as they are shared: the name of the plan. Hundreds of thousands of keys are on a few
 * plans, and share the text of their names. Safe to use from any thread.
 */
final class PlanNames implements SharedKeys.Codec<String> {

  private static final int MOST_NAMES = 10_000;

  private final Map<String, String> names = new ConcurrentHashMap<>();

  @Override
  public String encode(String plan) {
    return plan;
  }

  @Override
  public String decode(String text) {
    if (names.size() > MOST_NAMES) {
      names.clear();
    }
    return names.computeIfAbsent(text, name -> name);
  }

  @Override
  public long lifeMillis(String plan) {
    return 0;
  }
}
