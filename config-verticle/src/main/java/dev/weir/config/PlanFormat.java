package dev.weir.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Plans as they are written in YAML and JSON, as maps of members.
 *
 * <p>The short form is one limit named {@code default} for all requests: {@code {rate, period,
 * capacity}}. The full form is {@code {limits: [{name, endpoints, rate, period, capacity}]}}. In
 * both, {@code algorithm} is {@code token_bucket} if it is left out, {@code period} is {@code 1s},
 * and {@code capacity} is the rate rounded up, at least 1: a burst of one period's worth.
 */
public final class PlanFormat {

  private static final Duration DEFAULT_PERIOD = Duration.ofSeconds(1);
  private static final String TOKEN_BUCKET = "token_bucket";
  private static final String SHORT_MEMBERS = "limits, or algorithm, rate, period, capacity";
  private static final String LIMIT_MEMBERS = "name, endpoints, algorithm, rate, period, capacity";

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
    Limit first = plan.limits().get(0);
    if (plan.limits().size() == 1
        && first.name().equals(Limit.DEFAULT_NAME)
        && first.endpoints().isEmpty()) {
      return format(first.algorithm());
    }
    List<Object> limits = new ArrayList<>();
    for (Limit limit : plan.limits()) {
      limits.add(format(limit));
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("limits", limits);
    return members;
  }

  /** Writes {@code limit} as one of a plan's full form. */
  public static Map<String, Object> format(Limit limit) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", limit.name());
    if (!limit.endpoints().isEmpty()) {
      members.put("endpoints", limit.endpoints().stream().sorted().toList());
    }
    members.putAll(format(limit.algorithm()));
    return members;
  }

  /** Reads a plan whose name is known to be good; empty after an error. */
  static Optional<Plan> read(String path, String name, Object value, Errors errors) {
    Optional<Members> found = Members.of(path, value, errors);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Members members = found.get();
    List<Limit> limits = new ArrayList<>();
    boolean complete;
    if (members.has("limits")) {
      complete = readLimits(Errors.join(path, "limits"), members.take("limits"), limits, errors);
      members.refuseRest("limits alone");
    } else {
      Optional<Algorithm> algorithm = readAlgorithm(path, members, SHORT_MEMBERS, errors);
      algorithm.ifPresent(a -> limits.add(new Limit(Limit.DEFAULT_NAME, Set.of(), a)));
      complete = algorithm.isPresent();
    }
    return complete && Names.faultOfName(name).isEmpty()
        ? Optional.of(new Plan(name, limits))
        : Optional.empty();
  }

  private static boolean readLimits(String path, Object value, List<Limit> limits, Errors errors) {
    if (!(value instanceof List<?> list)) {
      errors.add(path, "must be a list, was " + Errors.shown(value));
      return false;
    }
    if (list.isEmpty() || list.size() > Plan.MAX_LIMITS) {
      errors.add(path, "must be 1 to " + Plan.MAX_LIMITS + " limits, was " + list.size());
      return false;
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      String limitPath = path + "[" + i + "]";
      Optional<Limit> limit = readLimit(limitPath, list.get(i), errors);
      limit.ifPresent(limits::add);
      if (limit.isPresent() && !names.add(limit.get().name())) {
        errors.add(
            limitPath + ".name", "'" + limit.get().name() + "' is the name of another limit");
      }
    }
    return limits.size() == list.size() && names.size() == list.size();
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
    Optional<Algorithm> algorithm = readAlgorithm(path, members, LIMIT_MEMBERS, errors);
    return name.isPresent() && endpoints.isPresent() && algorithm.isPresent()
        ? Optional.of(new Limit(name.get(), endpoints.get(), algorithm.get()))
        : Optional.empty();
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

  private static Optional<Algorithm> readAlgorithm(
      String path, Members members, String known, Errors errors) {
    if (members.has("algorithm")) {
      Object algorithm = members.take("algorithm");
      if (!TOKEN_BUCKET.equals(algorithm)) {
        members.refuse(
            "algorithm", Errors.shown(algorithm) + " is not supported; supported: " + TOKEN_BUCKET);
        // Its other members belong to an algorithm whose rules are not known here.
        return Optional.empty();
      }
    }
    for (String later : List.of("strict", "unlimited", "shadow", "on_store_failure")) {
      if (members.has(later)) {
        members.refuse(later, "is not supported; supported: " + known);
      }
    }
    OptionalDouble rate = members.number("rate");
    Optional<Duration> period =
        members.has("period") ? members.duration("period") : Optional.of(DEFAULT_PERIOD);
    OptionalLong capacity =
        members.has("capacity")
            ? members.whole("capacity", 0, Algorithm.MAX_QUOTA)
            : OptionalLong.of(defaultCapacity(rate.orElse(1)));
    members.refuseRest(known);
    if (rate.isEmpty() || period.isEmpty()) {
      return Optional.empty();
    }
    try {
      // Made even without a good capacity, so that what is wrong with rate and period is said too.
      Algorithm bucket = new TokenBucket(rate.getAsDouble(), period.get(), capacity.orElse(0));
      return capacity.isPresent() ? Optional.of(bucket) : Optional.empty();
    } catch (IllegalArgumentException e) {
      errors.add("", path.isEmpty() ? e.getMessage() : path + "." + e.getMessage());
      return Optional.empty();
    }
  }

  private static long defaultCapacity(double rate) {
    return (long) Math.min(Algorithm.MAX_QUOTA, Math.max(1, Math.ceil(rate)));
  }

  private static Map<String, Object> format(Algorithm algorithm) {
    Map<String, Object> members = new LinkedHashMap<>();
    if (algorithm instanceof TokenBucket bucket) {
      members.put("algorithm", TOKEN_BUCKET);
      members.put("rate", number(bucket.rate()));
      members.put("period", Durations.format(bucket.period()));
      members.put("capacity", bucket.capacity());
    }
    return members;
  }

  /** A whole rate is written the way its author wrote it, without a fraction. */
  private static Object number(double rate) {
    return rate == Math.rint(rate) && rate < 0x1p53 ? (Object) (long) rate : (Object) rate;
  }
}
