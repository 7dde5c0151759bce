package dev.weir.config;

import java.util.Optional;

/**
 * What is set for one key.
 *
 * @param plan that it is assigned to; empty for the default plan
 * @param override its own numbers; empty for those of its plan
 */
public record KeySetting(Optional<String> plan, Optional<KeyOverride> override) {

  /** That of a key of which nothing is set. */
  public static final KeySetting NONE = new KeySetting(Optional.empty(), Optional.empty());

  /** An assignment alone. */
  public static KeySetting ofPlan(String plan) {
    return new KeySetting(Optional.of(plan), Optional.empty());
  }

  /** This, with the parts that {@code change} has put in place of its own. */
  public KeySetting with(KeySetting change) {
    return new KeySetting(change.plan.or(() -> plan), change.override.or(() -> override));
  }
}
