package dev.weir.config;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Plans as they are written in YAML and JSON, as maps of members.
 *
 * <p>The short form is one limit named {@code default} for all requests: {@code {rate, period,
 * capacity}}, or {@code {algorithm, ...}} with the members of that algorithm. The full form is
 * {@code {limits: [{name, endpoints, ...}]}}. A limit of either form may be {@code strict: true}
 * and have {@code shards}, the sub-counters that it is divided over, 1 if they are left out and as
 * many for all limits of a plan; a plan of either form {@code shadow: true}, and have {@code
 * on_store_failure}, {@code degrade} if it is left out, and {@code regions}, weights of its own;
 * {@code {unlimited: true}} stands alone.
 */
public final class PlanFormat {

  private static final String PLAN_MEMBERS = "limits, shadow, on_store_failure, unlimited, regions";
  private static final String SHORT_MEMBERS = PLAN_MEMBERS + ", strict, shards";
  private static final String LIMIT_MEMBERS = "name, endpoints, strict, shards";

  private PlanFormat() {}

  /**
   * Reads the plan {@code name} from its short or full form.
   *
   * @param body members as a JSON parser gives them: text, numbers, lists and maps
   * @throws ConfigRefusedException with code 400 and every error found
   */
  public static Plan parse(String name, Map<String, ?> body) {
    Errors errors = new Errors();
    Names.faultOfName(name).ifPresent(fault -> errors.add("plan", fault));
    Optional<Plan> plan = read("", name, body, errors);
    errors.throwIfAny();
    return plan.orElseThrow();
  }

  /** Writes {@code plan}, in the short form if it has one; {@link #parse} reads it back. */
  public static Map<String, Object> format(Plan plan) {
    Map<String, Object> members = new LinkedHashMap<>();
    if (plan.unlimited()) {
      members.put("unlimited", true);
    } else if (hasShortForm(plan)) {
      putNumbers(members, plan.limits().get(0));
    } else {
      List<Object> limits = new ArrayList<>();
      plan.limits().forEach(limit -> limits.add(format(limit)));
      members.put("limits", limits);
    }
    if (plan.shadow()) {
      members.put("shadow", true);
    }
    if (plan.onStoreFailure() != OnStoreFailure.DEGRADE) {
      members.put("on_store_failure", plan.onStoreFailure().wireName());
    }
    if (!plan.regions().isEmpty()) {
      members.put("regions", plan.regions().format());
    }
    return members;
  }

  private static boolean hasShortForm(Plan plan) {
    Limit first = plan.limits().get(0);
    return plan.limits().size() == 1
        && first.name().equals(Limit.DEFAULT_NAME)
        && first.endpoints().isEmpty();
  }

  /** Writes {@code limit} as one of a plan's full form. */
  public static Map<String, Object> format(Limit limit) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", limit.name());
    if (!limit.endpoints().isEmpty()) {
      members.put("endpoints", limit.endpoints().stream().sorted().toList());
    }
    putNumbers(members, limit);
    return members;
  }

  private static void putNumbers(Map<String, Object> members, Limit limit) {
    members.putAll(AlgorithmFormat.format(limit.algorithm()));
    if (limit.strict()) {
      members.put("strict", true);
    }
    if (limit.shard().of() > 1) {
      members.put("shards", limit.shard().of());
    }
  }

  /** Reads a plan; empty after an error. */
  static Optional<Plan> read(String path, String name, Object value, Errors errors) {
    Optional<Members> found = Members.of(path, value, errors);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Members members = found.get();
    boolean unlimited = members.flag("unlimited");
    boolean shadow = members.flag("shadow");
    Optional<OnStoreFailure> onStoreFailure = Optional.of(OnStoreFailure.DEGRADE);
    if (!unlimited && members.has("on_store_failure")) {
      onStoreFailure = readOnStoreFailure(members);
    }
    RegionWeights regions = RegionWeights.NONE;
    if (!unlimited && members.has("regions")) {
      regions = RegionWeights.read(Errors.join(path, "regions"), members.take("regions"), errors);
    }
    Optional<List<Limit>> limits = Optional.of(List.of());
    if (unlimited) {
      if (shadow) {
        members.refuse("shadow", "an unlimited plan denies nothing");
      }
      members.refuseRest("unlimited alone");
    } else if (members.has("limits")) {
      limits = readLimits(Errors.join(path, "limits"), members.take("limits"), errors);
      members.refuseRest(
          "limits, shadow, on_store_failure, regions; all else stands in the limits");
    } else {
      limits =
          readCounting(path, members, SHORT_MEMBERS, errors)
              .map(counting -> counting.limit(Limit.DEFAULT_NAME, Set.of()))
              .map(List::of);
    }
    if (limits.isEmpty()
        || onStoreFailure.isEmpty()
        || Names.faultOfName(name).isPresent()
        || (unlimited && shadow)) {
      return Optional.empty();
    }
    return Optional.of(
        new Plan(name, limits.get(), unlimited, shadow, onStoreFailure.get(), regions));
  }

  private static Optional<OnStoreFailure> readOnStoreFailure(Members members) {
    Object given = members.take("on_store_failure");
    Optional<OnStoreFailure> policy = OnStoreFailure.of(given);
    if (policy.isEmpty()) {
      members.refuse(
          "on_store_failure",
          "must be one of " + OnStoreFailure.all() + ", was " + Errors.shown(given));
    }
    return policy;
  }

  private static Optional<List<Limit>> readLimits(String path, Object value, Errors errors) {
    if (!(value instanceof List<?> list)) {
      errors.add(path, "must be a list, was " + Errors.shown(value));
      return Optional.empty();
    }
    if (list.isEmpty() || list.size() > Plan.MAX_LIMITS) {
      errors.add(path, "must be 1 to " + Plan.MAX_LIMITS + " limits, was " + list.size());
      return Optional.empty();
    }
    List<Limit> limits = new ArrayList<>();
    Set<String> names = new HashSet<>();
    boolean alike = true;
    for (int i = 0; i < list.size(); i++) {
      String limitPath = path + "[" + i + "]";
      Optional<Limit> limit = readLimit(limitPath, list.get(i), errors);
      limit.ifPresent(limits::add);
      if (limit.isPresent() && !limit.get().shard().equals(limits.get(0).shard())) {
        errors.add(
            limitPath + ".shards",
            "must be the same for all limits of a plan, was "
                + limit.get().shard().of()
                + " beside "
                + limits.get(0).shard().of());
        alike = false;
      }
      if (limit.isPresent() && !names.add(limit.get().name())) {
        errors.add(
            limitPath + ".name", "'" + limit.get().name() + "' is the name of another limit");
      }
    }
    return limits.size() == list.size() && names.size() == list.size() && alike
        ? Optional.of(limits)
        : Optional.empty();
  }

  private static Optional<Limit> readLimit(String path, Object value, Errors errors) {
    Optional<Members> found = Members.of(path, value, errors);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Members members = found.get();
    Optional<String> name =
        members.has("name") ? members.text("name") : Optional.of(Limit.DEFAULT_NAME);
    if (name.isPresent() && !Limit.isName(name.get())) {
      members.refuse("name", Limit.NAME_RULE + ", was " + Errors.shown(name.get()));
      name = Optional.empty();
    }
    Optional<Set<String>> endpoints =
        members.has("endpoints")
            ? readEndpoints(path + ".endpoints", members.take("endpoints"), errors)
            : Optional.of(Set.of());
    Optional<Counting> counting = readCounting(path, members, LIMIT_MEMBERS, errors);
    return name.isPresent() && endpoints.isPresent() && counting.isPresent()
        ? Optional.of(counting.get().limit(name.get(), endpoints.get()))
        : Optional.empty();
  }

  /** What a limit has in either form. */
  private record Counting(Algorithm algorithm, boolean strict, Shard shard) {
    Limit limit(String name, Set<String> endpoints) {
      return new Limit(name, endpoints, algorithm, strict, shard);
    }
  }

  private static Optional<Counting> readCounting(
      String path, Members members, String known, Errors errors) {
    boolean strict = members.flag("strict");
    OptionalLong shards =
        members.has("shards") ? members.whole("shards", 1, Shard.MOST) : OptionalLong.of(1);
    Optional<Algorithm> algorithm = AlgorithmFormat.read(path, members, known, errors);
    if (shards.isEmpty() || algorithm.isEmpty()) {
      return Optional.empty();
    }
    Shard shard = Shard.all((int) shards.getAsLong());
    Optional<String> fault = faultOfShards(algorithm.get(), shard);
    fault.ifPresent(text -> members.refuse("shards", text));
    return fault.isPresent()
        ? Optional.empty()
        : Optional.of(new Counting(algorithm.get(), strict, shard));
  }

  private static Optional<String> faultOfShards(Algorithm algorithm, Shard shard) {
    int of = shard.of();
    if (of == 1) {
      return Optional.empty();
    }
    if (algorithm instanceof SlidingLog) {
      return Optional.of("a sliding_log cannot be divided");
    }
    return algorithm.part(new Shard(of, of)).quota() > 0
        ? Optional.empty()
        : Optional.of("must leave each of them a permit, and one a year, was " + of);
  }

  private static Optional<Set<String>> readEndpoints(String path, Object value, Errors errors) {
    if (!(value instanceof List<?> list) || list.isEmpty()) {
      // An empty list would mean "all", which is hardly what its author thinks.
      errors.add(
          path, "must be a list of at least one endpoint; leave it out to limit all requests");
      return Optional.empty();
    }
    Set<String> endpoints = new HashSet<>();
    boolean good = true;
    for (int i = 0; i < list.size(); i++) {
      Object entry = list.get(i);
      Optional<String> fault =
          entry instanceof String text
              ? Names.faultOfName(text)
              : Optional.of("must be text, was " + Errors.shown(entry));
      if (fault.isPresent()) {
        errors.add(path + "[" + i + "]", fault.get());
        good = false;
      } else {
        endpoints.add((String) entry);
      }
    }
    return good ? Optional.of(endpoints) : Optional.empty();
  }
}
