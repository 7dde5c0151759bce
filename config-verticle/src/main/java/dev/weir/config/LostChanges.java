package dev.weir.config;

import dev.weir.config.LostChange.Kind;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** What one configuration has of its own that another one, which takes its place, has not. */
final class LostChanges {

  /** Keys that are told one by one. */
  static final int MOST_KEYS = 100;

  private LostChanges() {}

  /**
   * The changes of {@code lost} that {@code kept} has not.
   *
   * @param common what both come from, as far as it is known: what {@code lost} has as it was there
   *     is no change of its own; empty to count all that differs
   */
  static List<LostChange> between(
      ConfigState lost, ConfigState kept, Optional<ConfigState> common) {
    List<LostChange> changes = new ArrayList<>();
    Optional<ConfigDocument> base = common.map(ConfigState::document);
    ConfigDocument mine = lost.document();
    ConfigDocument theirs = kept.document();
    one(Kind.DEFAULT_PLAN, mine, theirs, base, LostChanges::defaultPlan).ifPresent(changes::add);
    one(Kind.GATEWAY, mine, theirs, base, LostChanges::gateway).ifPresent(changes::add);
    one(Kind.REGIONS, mine, theirs, base, LostChanges::regions).ifPresent(changes::add);
    changes.addAll(
        named(
            Kind.PLAN,
            mine.plans(),
            theirs.plans(),
            base.map(ConfigDocument::plans),
            plan -> new JsonObject(PlanFormat.format(plan))));
    changes.addAll(
        named(
            Kind.ENDPOINT,
            mine.endpoints(),
            theirs.endpoints(),
            base.map(ConfigDocument::endpoints),
            weight -> new JsonObject().put("weight", weight)));
    changes.addAll(keys(lost, kept, common));
    return changes;
  }

  private static Optional<LostChange> one(
      Kind kind,
      ConfigDocument lost,
      ConfigDocument kept,
      Optional<ConfigDocument> base,
      Function<ConfigDocument, Optional<JsonObject>> part) {
    Optional<JsonObject> mine = part.apply(lost);
    boolean changed = base.isEmpty() || !mine.equals(part.apply(base.get()));
    return changed && !mine.equals(part.apply(kept))
        ? Optional.of(new LostChange(kind, "", mine, part.apply(kept)))
        : Optional.empty();
  }

  private static Optional<JsonObject> defaultPlan(ConfigDocument document) {
    return document.defaultPlan().map(plan -> new JsonObject().put("default_plan", plan));
  }

  private static Optional<JsonObject> gateway(ConfigDocument document) {
    return Optional.of(new JsonObject(GatewayFormat.format(document.gateway())));
  }

  /** Weights that have moved since are not lost. */
  private static Optional<JsonObject> regions(ConfigDocument document) {
    return Optional.of(document.regions().table())
        .filter(table -> !table.isEmpty())
        .map(table -> new JsonObject(table.formatTable()));
  }

  private static <T> List<LostChange> named(
      Kind kind,
      Map<String, T> lost,
      Map<String, T> kept,
      Optional<Map<String, T>> base,
      Function<T, JsonObject> format) {
    Set<String> names = new TreeSet<>(lost.keySet());
    names.addAll(kept.keySet());
    return names.stream()
        .filter(name -> differ(name, lost, kept, base))
        .map(
            name ->
                new LostChange(
                    kind,
                    name,
                    Optional.ofNullable(lost.get(name)).map(format),
                    Optional.ofNullable(kept.get(name)).map(format)))
        .toList();
  }

  private static <T> boolean differ(
      String name, Map<String, T> lost, Map<String, T> kept, Optional<Map<String, T>> base) {
    Optional<T> mine = Optional.ofNullable(lost.get(name));
    boolean changed =
        base.map(there -> !mine.equals(Optional.ofNullable(there.get(name)))).orElse(true);
    return changed && !mine.equals(Optional.ofNullable(kept.get(name)));
  }

  private static List<LostChange> keys(
      ConfigState lost, ConfigState kept, Optional<ConfigState> common) {
    Set<String> keys = new TreeSet<>();
    addDiffering(lost.assignments(), kept.assignments(), common.map(c -> c.assignments()), keys);
    addDiffering(lost.overrides(), kept.overrides(), common.map(c -> c.overrides()), keys);
    List<LostChange> changes = new ArrayList<>();
    keys.stream()
        .limit(MOST_KEYS)
        .map(
            key ->
                new LostChange(Kind.KEY, key, json(lost.settingOf(key)), json(kept.settingOf(key))))
        .forEach(changes::add);
    if (keys.size() > MOST_KEYS) {
      changes.add(
          new LostChange(
              Kind.MORE_KEYS,
              "",
              Optional.of(new JsonObject().put("keys", keys.size() - MOST_KEYS)),
              Optional.empty()));
    }
    return changes;
  }

  private static <T> void addDiffering(
      KeyMap<T> lost, KeyMap<T> kept, Optional<KeyMap<T>> base, Set<String> keys) {
    Set<String> differing = new TreeSet<>();
    kept.differences(lost).forEach((key, value) -> differing.add(key));
    Optional<Map<String, T>> there = base.map(map -> map);
    differing.stream().filter(key -> differ(key, lost, kept, there)).forEach(keys::add);
  }

  private static Optional<JsonObject> json(KeySetting setting) {
    Map<String, Object> members = new LinkedHashMap<>();
    setting.plan().ifPresent(plan -> members.put("tier", plan));
    setting.override().ifPresent(override -> members.put("override", KeyFormat.write(override)));
    return Optional.of(members).filter(some -> !some.isEmpty()).map(JsonObject::new);
  }
}
