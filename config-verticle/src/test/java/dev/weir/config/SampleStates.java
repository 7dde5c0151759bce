package dev.weir.config;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Configurations for tests of what holds for any of them. */
final class SampleStates {

  private SampleStates() {}

  /** With all that can be in one: text of any kind, overrides of each shape, a few versions. */
  static ConfigState rich() {
    PlansFile plans =
        PlansFile.parse(
            """
            default_plan: free
            plans:
              free: {rate: 0.1, period: 3s, capacity: 100}
              "Ünï {k}:%": {limits: [
                {name: a, endpoints: [x, y], algorithm: fixed_window, limit: 5, window: month,
                 zone: Europe/Berlin},
                {name: b, algorithm: sliding_log, limit: 5, window: 1m}]}
              inside: {unlimited: true}
            endpoints: {search: 10, health: 0}
            keys: {acme: free, "\\u2028\\n\\"": inside}
            gateway: {keys: [header X-Key], rules: ["GET /a/** -> search"]}
            """);
    Map<String, KeySetting> settings = new HashMap<>();
    settings.put("acme", of(Map.of("limit", 5, "window", "1m", "expires_in", "1d")));
    settings.put("alone", of(Map.of("rate", 0.25, "period", "1h", "capacity", 7)));
    settings.put("named", KeySetting.ofPlan("Ünï {k}:%").with(of(Map.of("name", "b", "limit", 3))));
    ConfigState first = ConfigState.first(plans, "default", "first");
    return first.withKeys(settings).nextAfter(first, "second");
  }

  /** One that has {@code keys} assignments. */
  static ConfigState large(int keys) {
    Map<String, String> assignments = new HashMap<>();
    for (int i = 0; i < keys; i++) {
      assignments.put("customer-" + i, i % 2 == 0 ? "gold" : "free");
    }
    return new ConfigState(
        ConfigDocument.first(PlansFile.example(), "default", "first"),
        KeyMap.of(assignments),
        KeyMap.none());
  }

  private static KeySetting of(Map<String, Object> numbers) {
    KeySetting setting = KeyFormat.parse(numbers, 1_000_000);
    return new KeySetting(Optional.empty(), setting.override());
  }
}
