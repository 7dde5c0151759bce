package dev.weir.config;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The whole configuration at one version: what nodes share, keep on disk, and make the snapshots of
 * that are in force. Immutable.
 *
 * <p>It has all changes up to the version of its document; of keys it may have some that are newer,
 * since they are written one by one and before the version that they belong to.
 */
record ConfigState(
    ConfigDocument document, KeyMap<String> assignments, KeyMap<KeyOverride> overrides) {

  /** What the first node of a cluster begins with. */
  static ConfigState first(PlansFile seed, String region, String writer) {
    return new ConfigState(
        ConfigDocument.first(seed, region, writer), KeyMap.of(seed.keys()), KeyMap.none());
  }

  long version() {
    return document.version();
  }

  KeySetting settingOf(String key) {
    return new KeySetting(
        Optional.ofNullable(assignments.get(key)), Optional.ofNullable(overrides.get(key)));
  }

  /** With {@code settings} in place of whatever their keys had. */
  ConfigState withKeys(Map<String, KeySetting> settings) {
    Map<String, Optional<String>> plans = new HashMap<>();
    Map<String, Optional<KeyOverride>> numbers = new HashMap<>();
    settings.forEach(
        (key, setting) -> {
          // Hundreds of thousands of keys share the text of a plan's name.
          plans.put(
              key, setting.plan().map(name -> document.plan(name).map(Plan::name).orElse(name)));
          numbers.put(key, setting.override());
        });
    return new ConfigState(document, assignments.changedBy(plans), overrides.changedBy(numbers));
  }

  /** With overrides only that are not over at {@code nowMillis}. */
  ConfigState unendedAt(long nowMillis) {
    return new ConfigState(
        document, assignments, overrides.keeping(override -> !override.endedBy(nowMillis)));
  }

  /** With what {@code other} knows of weights that have moved between regions; a new version. */
  ConfigState keepingMovesOf(ConfigDocument other, String writer) {
    return new ConfigState(document.keepingMovesOf(other), assignments, overrides)
        .nextAfter(this, writer);
  }

  /** This as the next version, if it differs from {@code before}; else this. */
  ConfigState nextAfter(ConfigState before, String writer) {
    return is(before) ? this : new ConfigState(document.next(writer), assignments, overrides);
  }

  /** Whether this is {@code other}, without a look at every key. */
  boolean is(ConfigState other) {
    return document.equals(other.document)
        && assignments.is(other.assignments)
        && overrides.is(other.overrides);
  }

  ConfigSnapshot snapshot() {
    return new ConfigSnapshot(
        document.version(),
        document.defaultPlan(),
        document.plans(),
        document.endpoints(),
        document.gateway(),
        document.regions(),
        assignments,
        overrides);
  }
}
