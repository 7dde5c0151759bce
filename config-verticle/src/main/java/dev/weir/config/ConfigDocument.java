package dev.weir.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans, endpoint weights and the rules of gateways, as one versioned whole. A change gives a
 * document with other contents, or is refused; {@link #next} then makes a version of it. What is
 * set for keys is apart, since there may be hundreds of thousands, but has the same version.
 *
 * @param version 1 or more, one more than that of the document before
 */
record ConfigDocument(
    long version,
    Optional<String> defaultPlan,
    Map<String, Plan> plans,
    Map<String, Long> endpoints,
    Gateway gateway,
    Regions regions,
    Lineage lineage) {

  ConfigDocument {
    plans = Map.copyOf(plans);
    endpoints = Map.copyOf(endpoints);
  }

  /** The first document, of what the first node brings along. */
  static ConfigDocument first(PlansFile seed, String region, String writer) {
    return new ConfigDocument(
        1,
        seed.defaultPlan(),
        seed.plans(),
        seed.endpoints(),
        seed.gateway(),
        Regions.of(region, seed.regions()),
        Lineage.NONE.writtenBy(writer).seededBy(seed.digest()));
  }

  /** The next version, with these contents. */
  ConfigDocument next(String writer) {
    return new ConfigDocument(
        version + 1, defaultPlan, plans, endpoints, gateway, regions, lineage.writtenBy(writer));
  }

  /** Whether {@code older}, of a version that is not higher, has changes that this has not. */
  boolean departsFrom(ConfigDocument older) {
    return lineage.departsFrom(older.lineage, version - older.version);
  }

  Optional<Plan> plan(String name) {
    return Optional.ofNullable(plans.get(name));
  }

  /** The weight that {@code endpoint} has of its own. */
  Optional<Long> weight(String endpoint) {
    return Optional.ofNullable(endpoints.get(endpoint));
  }

  /**
   * Adds what a later node brings along and is not there yet; what is there stands.
   *
   * @throws ConfigRefusedException 409 if it does not go with the regions that are there
   */
  ConfigDocument adding(PlansFile seed, String region) {
    Map<String, Plan> allPlans = new HashMap<>(seed.plans());
    allPlans.putAll(plans);
    Map<String, Long> allEndpoints = new HashMap<>(seed.endpoints());
    allEndpoints.putAll(endpoints);
    return new ConfigDocument(
            version,
            defaultPlan,
            allPlans,
            allEndpoints,
            gateway.equals(Gateway.DEFAULT) ? seed.gateway() : gateway,
            regions.divided() ? regions : regions.withTable(region, seed.regions()),
            lineage.seededBy(seed.digest()))
        .checkedAfter(this);
  }

  /**
   * Has all of {@code seed} in place of what is there, but for weights that have moved.
   *
   * @throws ConfigRefusedException 409 if it does not go with those
   */
  ConfigDocument replacedBy(PlansFile seed, String region) {
    return new ConfigDocument(
            version,
            seed.defaultPlan(),
            seed.plans(),
            seed.endpoints(),
            seed.gateway(),
            regions.withTable(region, seed.regions()),
            lineage.seededBy(seed.digest()))
        .checkedAfter(this);
  }

  /** With the plans of {@code other} that are not here. */
  ConfigDocument withPlansOf(ConfigDocument other) {
    Map<String, Plan> all = new HashMap<>(other.plans);
    all.putAll(plans);
    return with(all, endpoints);
  }

  /**
   * @throws ConfigRefusedException 409 if it does not go with the regions
   */
  ConfigDocument putPlan(Plan plan) {
    Map<String, Plan> changed = new HashMap<>(plans);
    changed.put(plan.name(), plan);
    return with(changed, endpoints).checkedAfter(this);
  }

  /**
   * @param region where the node runs that is told to
   * @throws ConfigRefusedException 409 if the table does not go with the plans, or with what has
   *     moved
   */
  ConfigDocument putRegions(String region, RegionWeights table) {
    return with(regions.withTable(region, table)).checkedAfter(this);
  }

  /**
   * Gives weights to {@code other}: raises what was given in all to these totals, millionths by
   * plan.
   *
   * @throws ConfigRefusedException 409 if this region has not as much
   */
  ConfigDocument give(String other, Map<String, Long> totals) {
    return with(regions.withLedger(regions.ledger().giving(other, totals))).checkedAfter(this);
  }

  /**
   * Takes in what {@code other} tells.
   *
   * @param received of it in all, millionths by plan
   * @param given to it in all: as much as it has received
   */
  ConfigDocument learn(String other, Map<String, Long> received, Map<String, Long> given) {
    RegionLedger told = regions.ledger().receiving(other, received);
    return with(regions.withLedger(told.giving(other, given)));
  }

  /** Whether this knows all that {@code other} does of what has moved. */
  boolean keepsMovesOf(ConfigDocument other) {
    return regions.ledger().covers(other.regions.ledger());
  }

  /** With the higher totals of what has moved, of this and of {@code other}. */
  ConfigDocument keepingMovesOf(ConfigDocument other) {
    return with(regions.withLedger(regions.ledger().with(other.regions.ledger())));
  }

  /**
   * @param assigned whether a key is on the plan
   * @throws ConfigRefusedException 404 if there is no such plan, 409 if it is in use
   */
  ConfigDocument deletePlan(String name, boolean assigned) {
    requirePlan(name);
    if (defaultPlan.equals(Optional.of(name))) {
      throw refused(409, Errors.join("plans", name), "is the default plan");
    }
    if (assigned) {
      throw refused(409, Errors.join("plans", name), "keys are assigned to it");
    }
    Map<String, Plan> changed = new HashMap<>(plans);
    changed.remove(name);
    return with(changed, endpoints);
  }

  /**
   * @throws ConfigRefusedException 400 if the name or the weight is out of its range
   */
  ConfigDocument putEndpoint(String endpoint, long weight) {
    String path = Errors.join("endpoints", endpoint);
    Errors errors = new Errors();
    Names.faultOfName(endpoint).ifPresent(fault -> errors.add(path, fault));
    if (weight < 0 || weight > PlansFile.MAX_WEIGHT) {
      errors.add(path, Members.notWhole(weight, 0, PlansFile.MAX_WEIGHT));
    }
    errors.throwIfAny();
    Map<String, Long> changed = new HashMap<>(endpoints);
    changed.put(endpoint, weight);
    return with(plans, changed);
  }

  /**
   * @param assigned the plan that the key is assigned to so far
   * @throws ConfigRefusedException 400 if the key is malformed, or its plan cannot have the numbers
   *     of the override; 404 if there is no such plan
   */
  void checkSetting(String key, KeySetting setting, Optional<String> assigned) {
    Errors errors = new Errors();
    Names.faultOfKey(key).ifPresent(fault -> errors.add("key", fault));
    errors.throwIfAny();
    setting.plan().ifPresent(this::requirePlan);
    setting
        .override()
        .ifPresent(
            override -> {
              Plan plan =
                  setting
                      .plan()
                      .or(() -> assigned)
                      .or(() -> defaultPlan)
                      .map(plans::get)
                      .orElseThrow(
                          () -> refused(400, "key", "has no plan whose numbers to override"));
              override.check(plan, regions.table());
            });
  }

  /** What changed since {@code before}, in one line for the log; never a key. */
  String changesSince(ConfigDocument before) {
    List<String> changes = new ArrayList<>();
    if (!defaultPlan.equals(before.defaultPlan)) {
      changes.add("default plan " + defaultPlan.orElse("none"));
    }
    describe("plans", before.plans, plans, changes);
    describe("endpoints", before.endpoints, endpoints, changes);
    if (!gateway.equals(before.gateway)) {
      changes.add("gateway with " + gateway.rules().size() + " rules");
    }
    if (!regions.table().equals(before.regions.table())) {
      changes.add("regions " + regions.table().format());
    }
    if (!regions.ledger().equals(before.regions.ledger())) {
      changes.add("weights of regions moved");
    }
    return String.join(", ", changes);
  }

  /** As members that a JSON writer takes; {@link #parse} reads them back. */
  Map<String, Object> format() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("version", version);
    members.put("lineage", lineage.format());
    members.put("default_plan", defaultPlan.orElse(null));
    Map<String, Object> planMembers = new TreeMap<>();
    plans.forEach((name, plan) -> planMembers.put(name, PlanFormat.format(plan)));
    members.put("plans", planMembers);
    members.put("endpoints", new TreeMap<>(endpoints));
    if (!gateway.equals(Gateway.DEFAULT)) {
      members.put("gateway", GatewayFormat.format(gateway));
    }
    regions.format().ifPresent(written -> members.put("regions", written));
    return members;
  }

  /**
   * @throws ConfigRefusedException with code 400 if {@code members} are not of a document
   */
  static ConfigDocument parse(Map<String, Object> members) {
    Map<String, Object> rest = new LinkedHashMap<>(members);
    Object given = rest.remove("version");
    long version =
        Members.wholeOf(given, 1, Long.MAX_VALUE)
            .orElseThrow(() -> refused(400, "version", Members.notWhole(given, 1, Long.MAX_VALUE)));
    Lineage lineage = Lineage.parse(rest.remove("lineage"));
    Errors errors = new Errors();
    Regions regions = Regions.parse(rest.remove("regions"), errors);
    errors.throwIfAny();
    if (regions.divided()) {
      rest.put("regions", regions.table().formatTable());
    }
    PlansFile contents = PlansFile.of(rest);
    return new ConfigDocument(
        version,
        contents.defaultPlan(),
        contents.plans(),
        contents.endpoints(),
        contents.gateway(),
        regions,
        lineage);
  }

  private ConfigDocument with(Map<String, Plan> newPlans, Map<String, Long> newEndpoints) {
    return new ConfigDocument(
        version, defaultPlan, newPlans, newEndpoints, gateway, regions, lineage);
  }

  private ConfigDocument with(Regions newRegions) {
    return new ConfigDocument(version, defaultPlan, plans, endpoints, gateway, newRegions, lineage);
  }

  private ConfigDocument checkedAfter(ConfigDocument before) {
    Errors errors = new Errors();
    regions.check(plans, before.regions, before.plans, errors);
    errors.throwIfAny(409);
    return this;
  }

  private void requirePlan(String name) {
    if (!plans.containsKey(name)) {
      throw refused(404, Errors.join("plans", name), "there is no such plan");
    }
  }

  private static <T> void describe(
      String what, Map<String, T> before, Map<String, T> after, List<String> changes) {
    List<String> put =
        after.keySet().stream()
            .filter(name -> !after.get(name).equals(before.get(name)))
            .sorted()
            .toList();
    TreeSet<String> removed = new TreeSet<>(before.keySet());
    removed.removeAll(after.keySet());
    if (!put.isEmpty()) {
      changes.add(what + " put " + put);
    }
    if (!removed.isEmpty()) {
      changes.add(what + " removed " + removed);
    }
  }

  private static ConfigRefusedException refused(int code, String path, String reason) {
    return new ConfigRefusedException(code, List.of(path + ": " + reason));
  }
}
