package dev.weir.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What a plans file says; what a node brings along when it starts. Immutable and valid.
 *
 * <pre>
 * default_plan: free            # for keys without one; null or left out refuses unknown keys
 * plans:
 *   free: {rate: 100, period: 1m, capacity: 100}
 *   metered:
 *     limits:
 *       - {name: burst, rate: 50, period: 1s, capacity: 200}
 *       - {name: search, endpoints: [search], rate: 5}
 * endpoints: {search: 10, health: 0}
 * keys: {acme: metered}
 * gateway:
 *   keys: [header X-Api-Key, bearer, address]
 *   rules: ["GET /search/** -&gt; search"]
 * regions: {eu: {weight: 0.6}, us: {weight: 0.4}}
 * </pre>
 *
 * @param defaultPlan of keys without one; empty to refuse such keys
 * @param plans by name; see {@link PlanFormat} for how they are written
 * @param endpoints weights by endpoint name, permits, 0 to 10^12
 * @param keys plan names by key
 * @param gateway how requests that a gateway asks about become checks
 * @param regions which part of the limits each region enforces; empty if there is one only
 */
public record PlansFile(
    Optional<String> defaultPlan,
    Map<String, Plan> plans,
    Map<String, Long> endpoints,
    Map<String, String> keys,
    Gateway gateway,
    RegionWeights regions) {

  /** Largest weight of an endpoint, permits. */
  static final long MAX_WEIGHT = 1_000_000_000_000L;

  private static final String EXAMPLE = "example-plans.yaml";

  public PlansFile {
    plans = Map.copyOf(plans);
    endpoints = Map.copyOf(endpoints);
    keys = Map.copyOf(keys);
  }

  /** The built-in example: plans {@code free} (the default) and {@code gold}. */
  public static PlansFile example() {
    try (InputStream in = PlansFile.class.getResourceAsStream(EXAMPLE)) {
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a file. Blocks.
   *
   * @throws ConfigRefusedException with code 400 and every error found, also if there is no such
   *     file
   */
  public static PlansFile read(Path file) {
    try {
      return parse(Files.readString(file));
    } catch (NoSuchFileException e) {
      throw new ConfigRefusedException(400, List.of("there is no file " + file));
    } catch (CharacterCodingException e) {
      throw new ConfigRefusedException(400, List.of(file + " is not UTF-8"));
    } catch (IOException e) {
      throw new ConfigRefusedException(400, List.of(file + " cannot be read: " + e.getMessage()));
    }
  }

  /**
   * Reads the YAML text of a plans file.
   *
   * @throws ConfigRefusedException with code 400 and every error found
   */
  public static PlansFile parse(String yaml) {
    Object root = YamlText.read(yaml.startsWith("\uFEFF") ? yaml.substring(1) : yaml);
    if (root == null) {
      throw new ConfigRefusedException(400, List.of("is empty: plans are missing"));
    }
    return of(root);
  }

  /**
   * Checks the members of a document.
   *
   * @throws ConfigRefusedException with code 400 and every error found
   */
  static PlansFile of(Object root) {
    Errors errors = new Errors();
    Optional<Members> found = Members.of("", root, errors);
    errors.throwIfAny();
    Members members = found.orElseThrow();

    Object plansValue = members.take("plans");
    Map<String, Plan> plans = readPlans(plansValue, errors);
    // A plan that is there but wrong has had its own error: only a missing one is "no such plan".
    Map<?, ?> named = plansValue instanceof Map<?, ?> map ? map : Map.of();
    Optional<String> defaultPlan = readDefaultPlan(members, named);
    Map<String, Long> endpoints = readEndpoints(members.take("endpoints"), errors);
    Map<String, String> keys = readKeys(members.take("keys"), named, errors);
    Gateway gateway = GatewayFormat.read("gateway", members.take("gateway"), errors);
    RegionWeights regions = RegionWeights.readTable("regions", members.take("regions"), errors);
    members.refuseRest("default_plan, plans, endpoints, keys, gateway, regions");
    plans.forEach(
        (name, plan) ->
            plan.regions()
                .checkIn(regions, Errors.join(Errors.join("plans", name), "regions"), errors));
    errors.throwIfAny();
    return new PlansFile(defaultPlan, plans, endpoints, keys, gateway, regions);
  }

  /** Tells files of different contents apart; comments and the order of members do not count. */
  String digest() {
    Map<String, Object> members = new TreeMap<>();
    members.put("default_plan", defaultPlan.orElse(""));
    Map<String, Object> planMembers = new TreeMap<>();
    plans.forEach((name, plan) -> planMembers.put(name, PlanFormat.format(plan)));
    members.put("plans", planMembers);
    members.put("endpoints", new TreeMap<>(endpoints));
    members.put("keys", new TreeMap<>(keys));
    members.put("gateway", GatewayFormat.format(gateway));
    if (!regions.isEmpty()) {
      members.put("regions", regions.format());
    }
    return Sha256.of(members.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static Map<String, Plan> readPlans(Object value, Errors errors) {
    Map<String, Plan> plans = new LinkedHashMap<>();
    for (Map.Entry<String, Object> entry : entries("plans", value, errors).entrySet()) {
      String name = entry.getKey();
      String path = Errors.join("plans", name);
      Names.faultOfName(name).ifPresent(fault -> errors.add(path, fault));
      PlanFormat.read(path, name, entry.getValue(), errors)
          .ifPresent(plan -> plans.put(name, plan));
    }
    return plans;
  }

  private static Optional<String> readDefaultPlan(Members members, Map<?, ?> plans) {
    Object value = members.take("default_plan");
    if (value == null) {
      return Optional.empty();
    }
    if (!(value instanceof String name)) {
      members.refuse("default_plan", "must be text, was " + Errors.shown(value));
      return Optional.empty();
    }
    if (!plans.containsKey(name)) {
      members.refuse("default_plan", "there is no plan " + Errors.shown(name));
    }
    return Optional.of(name);
  }

  private static Map<String, Long> readEndpoints(Object value, Errors errors) {
    Map<String, Long> endpoints = new LinkedHashMap<>();
    entries("endpoints", value, errors)
        .forEach(
            (name, given) -> {
              String path = Errors.join("endpoints", name);
              Names.faultOfName(name).ifPresent(fault -> errors.add(path, fault));
              OptionalLong weight = Members.wholeOf(given, 0, MAX_WEIGHT);
              if (weight.isEmpty()) {
                errors.add(path, Members.notWhole(given, 0, MAX_WEIGHT));
              } else {
                endpoints.put(name, weight.getAsLong());
              }
            });
    return endpoints;
  }

  private static Map<String, String> readKeys(Object value, Map<?, ?> plans, Errors errors) {
    Map<String, String> keys = new LinkedHashMap<>();
    entries("keys", value, errors)
        .forEach(
            (key, given) -> {
              String path = Errors.join("keys", key);
              Names.faultOfKey(key).ifPresent(fault -> errors.add(path, fault));
              if (!(given instanceof String plan)) {
                errors.add(path, "must be the name of a plan, was " + Errors.shown(given));
              } else if (!plans.containsKey(plan)) {
                errors.add(path, "there is no plan " + Errors.shown(plan));
              } else {
                keys.put(key, plan);
              }
            });
    return keys;
  }

  /** A section left out, or left empty, has no entries. */
  private static Map<String, Object> entries(String path, Object value, Errors errors) {
    if (value == null) {
      return Map.of();
    }
    if (!(value instanceof Map<?, ?> map)) {
      errors.add(path, "must be a map, was " + Errors.shown(value));
      return Map.of();
    }
    Map<String, Object> entries = new LinkedHashMap<>();
    map.forEach((name, entry) -> entries.put(String.valueOf(name), entry));
    return entries;
  }
}
