package dev.weir.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Changes of what the cluster shares, made one after another and written together: each sees those
 * before it, and is a version of its own. Used by the thread that holds the lock of the document;
 * all of it blocks.
 */
final class SharedChange {

  private final SharedState shared;
  private final Clock clock;
  private final String writer;
  private ConfigDocument written;
  private ConfigDocument document;
  private final Map<String, Optional<String>> plans = new HashMap<>();
  private final Map<String, Optional<KeyOverride>> numbers = new HashMap<>();

  SharedChange(SharedState shared, ConfigDocument there, String writer, Clock clock) {
    this.shared = shared;
    this.clock = clock;
    this.writer = writer;
    written = there;
    document = there;
  }

  /** Changes the document; gives it as it was before. */
  ConfigDocument change(UnaryOperator<ConfigDocument> change) {
    ConfigDocument last = document;
    ConfigDocument next = change.apply(last);
    if (!next.equals(last)) {
      document = next.next(writer);
    }
    return last;
  }

  /** Whether any key is assigned to {@code plan}. */
  boolean isAssigned(String plan) {
    write();
    return shared.assignments().contains(plan);
  }

  /** Sets what {@code setting} has of {@code key}; gives what was set before. */
  KeySetting set(String key, KeySetting setting) {
    KeySetting there = settingOf(key);
    document.checkSetting(key, setting, there.plan());
    put(Map.of(key, there), Map.of(key, there.with(setting)));
    return there;
  }

  /** Sets what many lines say, or refuses them all; gives how many keys are not as before. */
  int set(List<KeyLine> lines) {
    write();
    Map<String, KeySetting> there = settingsOf(lines);
    Map<String, KeySetting> changes = KeyLines.changes(lines, document, there::get);
    put(there, changes);
    return changes.size();
  }

  /** Removes what is set of {@code key}, and gives it. */
  KeySetting clear(String key) {
    KeySetting there = settingOf(key);
    put(Map.of(key, there), Map.of(key, KeySetting.NONE));
    return there;
  }

  /** Writes what has been changed so far. */
  void write() {
    if (!document.equals(written)) {
      shared.write(Optional.of(written), document, plans, numbers);
      written = document;
      plans.clear();
      numbers.clear();
    }
  }

  private void put(Map<String, KeySetting> there, Map<String, KeySetting> settings) {
    boolean differs = false;
    for (Map.Entry<String, KeySetting> entry : settings.entrySet()) {
      String key = entry.getKey();
      KeySetting setting = entry.getValue();
      if (!setting.plan().equals(there.get(key).plan())) {
        plans.put(key, setting.plan());
        differs = true;
      }
      if (!setting.override().equals(there.get(key).override())) {
        numbers.put(key, setting.override());
        differs = true;
      }
    }
    if (differs) {
      document = document.next(writer);
    }
  }

  private KeySetting settingOf(String key) {
    Optional<String> plan = plans.containsKey(key) ? plans.get(key) : shared.assignments().get(key);
    Optional<KeyOverride> override =
        numbers.containsKey(key) ? numbers.get(key) : shared.overrides().get(key);
    return new KeySetting(plan, override.filter(this::isUnended));
  }

  private Map<String, KeySetting> settingsOf(List<KeyLine> lines) {
    Set<String> keys = lines.stream().map(KeyLine::key).collect(Collectors.toSet());
    Map<String, String> therePlans = shared.assignments().getAll(keys);
    Map<String, KeyOverride> thereNumbers = shared.overrides().getAll(keys);
    Map<String, KeySetting> settings = new HashMap<>();
    for (String key : keys) {
      settings.put(
          key,
          new KeySetting(
              Optional.ofNullable(therePlans.get(key)),
              Optional.ofNullable(thereNumbers.get(key)).filter(this::isUnended)));
    }
    return settings;
  }

  private boolean isUnended(KeyOverride override) {
    return !override.endedBy(clock.epochMillis());
  }
}
