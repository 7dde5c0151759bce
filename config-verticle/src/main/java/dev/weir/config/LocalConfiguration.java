package dev.weir.config;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration of a node that is alone. Changes are made under its lock, one after another.
 */
final class LocalConfiguration implements Configuration {

  private static final Logger LOG = LoggerFactory.getLogger(LocalConfiguration.class);

  private final Clock clock;
  private final OverrideEnds ends = new OverrideEnds();
  private final LiveSnapshot live;
  private ConfigDocument document;
  private KeyMap<String> assignments;
  private KeyMap<KeyOverride> overrides = KeyMap.none();

  LocalConfiguration(PlansFile seed, Clock clock) {
    this.clock = clock;
    document = ConfigDocument.first(seed);
    assignments = KeyMap.of(seed.keys());
    live = new LiveSnapshot(document.with(assignments, overrides));
  }

  @Override
  public ConfigSnapshot current() {
    return live.current();
  }

  @Override
  public void onChange(Consumer<ConfigSnapshot> listener) {
    live.onChange(listener);
  }

  @Override
  public Future<Optional<Plan>> putPlan(Plan plan) {
    return change(before -> before.putPlan(plan)).map(before -> before.plan(plan.name()));
  }

  @Override
  public synchronized Future<Plan> deletePlan(String name) {
    return change(before -> before.deletePlan(name, assignments.containsValue(name)))
        .map(before -> before.plans().get(name));
  }

  @Override
  public Future<Optional<Long>> putEndpoint(String endpoint, long weight) {
    return change(before -> before.putEndpoint(endpoint, weight))
        .map(before -> before.weight(endpoint));
  }

  @Override
  public synchronized Future<KeySetting> setKey(String key, KeySetting setting) {
    KeySetting before = settingOf(key);
    try {
      document.checkSetting(key, setting, before.plan());
    } catch (ConfigRefusedException e) {
      return Future.failedFuture(e);
    }
    replaceKeys(
        setting.plan().map(plan -> assignments.with(key, plan)).orElse(assignments),
        setting.override().map(override -> overriding(key, override)).orElse(overrides));
    return Future.succeededFuture(before);
  }

  private KeyMap<KeyOverride> overriding(String key, KeyOverride override) {
    ends.note(override);
    return overrides.with(key, override);
  }

  @Override
  public synchronized Future<KeySetting> clearKey(String key) {
    KeySetting before = settingOf(key);
    replaceKeys(assignments.without(key), overrides.without(key));
    return Future.succeededFuture(before);
  }

  private KeySetting settingOf(String key) {
    return new KeySetting(
        Optional.ofNullable(assignments.get(key)), Optional.ofNullable(overrides.get(key)));
  }

  /** Takes overrides whose time is over out of force; to be called several times a second. */
  synchronized void endOverrides() {
    replaceKeys(assignments, ends.inForce(overrides, clock.epochMillis()));
  }

  /** Gives the document before the change. */
  private synchronized Future<ConfigDocument> change(UnaryOperator<ConfigDocument> change) {
    ConfigDocument before = document;
    ConfigDocument after;
    try {
      after = change.apply(before);
    } catch (ConfigRefusedException e) {
      return Future.failedFuture(e);
    }
    if (!after.equals(before)) {
      document = after;
      LOG.info("configuration version {}: {}", after.version(), after.changesSince(before));
      live.replace(after.with(assignments, overrides));
    }
    return Future.succeededFuture(before);
  }

  private void replaceKeys(KeyMap<String> nextAssignments, KeyMap<KeyOverride> nextOverrides) {
    if (!nextAssignments.is(assignments) || !nextOverrides.is(overrides)) {
      assignments = nextAssignments;
      overrides = nextOverrides;
      live.replace(document.with(assignments, overrides));
    }
  }
}
