package dev.weir.config;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The configuration of a node that is alone. Changes are made under its lock, one after another.
 */
final class LocalConfiguration implements Configuration {

  private final Clock clock;
  private final String self;
  private final OverrideEnds ends = new OverrideEnds();
  private final LiveSnapshot live;

  /**
   * @param self tells this node from all others
   * @param clock by which overrides end
   */
  LocalConfiguration(ConfigState first, String self, Clock clock) {
    this.clock = clock;
    this.self = self;
    live = new LiveSnapshot(first.unendedAt(clock.epochMillis()));
    live.state().overrides().values().forEach(ends::note);
  }

  @Override
  public ConfigSnapshot current() {
    return live.current();
  }

  /** What is in force, whole. */
  ConfigState state() {
    return live.state();
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
  public Future<Regions> putRegions(String region, RegionWeights table) {
    return change(before -> before.putRegions(region, table)).map(ConfigDocument::regions);
  }

  @Override
  public Future<Regions> give(String other, Map<String, Long> totals) {
    return change(before -> before.give(other, totals)).map(ConfigDocument::regions);
  }

  @Override
  public Future<Regions> learn(String other, Map<String, Long> received, Map<String, Long> given) {
    return change(before -> before.learn(other, received, given)).map(ConfigDocument::regions);
  }

  @Override
  public synchronized Future<Plan> deletePlan(String name) {
    boolean assigned = live.state().assignments().containsValue(name);
    return change(before -> before.deletePlan(name, assigned))
        .map(before -> before.plan(name).orElseThrow());
  }

  @Override
  public Future<Optional<Long>> putEndpoint(String endpoint, long weight) {
    return change(before -> before.putEndpoint(endpoint, weight))
        .map(before -> before.weight(endpoint));
  }

  @Override
  public Future<KeySetting> setKey(String key, KeySetting setting) {
    return attempt(
        () -> {
          KeySetting before = live.state().settingOf(key);
          live.state().document().checkSetting(key, setting, before.plan());
          putKeys(Map.of(key, before.with(setting)));
          return before;
        });
  }

  @Override
  public Future<Integer> setKeys(List<KeyLine> lines) {
    return attempt(
        () -> {
          ConfigState before = live.state();
          Map<String, KeySetting> changes =
              KeyLines.changes(lines, before.document(), before::settingOf);
          putKeys(changes);
          return changes.size();
        });
  }

  @Override
  public Future<KeySetting> clearKey(String key) {
    return attempt(
        () -> {
          KeySetting before = live.state().settingOf(key);
          putKeys(Map.of(key, KeySetting.NONE));
          return before;
        });
  }

  private void putKeys(Map<String, KeySetting> settings) {
    settings.values().forEach(setting -> setting.override().ifPresent(ends::note));
    put(live.state().withKeys(settings));
  }

  /** Gives the document before the change. */
  private Future<ConfigDocument> change(UnaryOperator<ConfigDocument> change) {
    return attempt(
        () -> {
          ConfigState before = live.state();
          ConfigDocument after = change.apply(before.document());
          put(new ConfigState(after, before.assignments(), before.overrides()));
          return before.document();
        });
  }

  private void put(ConfigState contents) {
    ConfigState before = live.state();
    if (!contents.is(before)) {
      live.replace(contents.nextAfter(before, self));
    }
  }

  private synchronized <T> Future<T> attempt(Supplier<T> change) {
    try {
      return Future.succeededFuture(change.get());
    } catch (ConfigRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  /**
   * Takes overrides whose time is over out of force, which is no version; to be called several
   * times a second.
   */
  synchronized void endOverrides() {
    ConfigState before = live.state();
    KeyMap<KeyOverride> unended = ends.inForce(before.overrides(), clock.epochMillis());
    if (!unended.is(before.overrides())) {
      live.replace(new ConfigState(before.document(), before.assignments(), unended));
    }
  }
}
