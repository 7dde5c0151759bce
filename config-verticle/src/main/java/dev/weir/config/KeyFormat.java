package dev.weir.config;

import dev.weir.config.KeyOverride.BucketNumbers;
import dev.weir.config.KeyOverride.Numbers;
import dev.weir.config.KeyOverride.WindowNumbers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * What is set for a key, as it is written in JSON, as maps of members: {@code tier}, the name of a
 * plan; {@code limit} and {@code window}, or {@code rate}, {@code period} and {@code capacity}, its
 * own numbers, for the limit {@code name}, and for as long as {@code expires_in} says; {@code
 * regions}, which part of its limits each region enforces.
 */
public final class KeyFormat {

  /** The longest time that an override can be set for. */
  private static final Duration LONGEST = Duration.ofDays(3660);

  private static final List<String> WINDOW_MEMBERS = List.of("limit", "window");
  private static final List<String> BUCKET_MEMBERS = List.of("rate", "period", "capacity");
  private static final String KNOWN =
      "tier, name, limit, window, rate, period, capacity, expires_in, regions";

  private static final Numbers NO_NUMBERS =
      new WindowNumbers(OptionalLong.empty(), Optional.empty());

  private KeyFormat() {}

  /**
   * Reads what is to be set.
   *
   * @param body members as a JSON parser gives them
   * @param nowMillis the present, milliseconds since the epoch
   * @throws ConfigRefusedException with code 400 and every error found
   */
  public static KeySetting parse(Map<String, ?> body, long nowMillis) {
    Errors errors = new Errors();
    Members members = Members.of("", body, errors).orElseThrow();
    boolean empty = body.isEmpty();
    Optional<String> plan = members.has("tier") ? members.text("tier") : Optional.empty();
    Optional<String> limit = readName(members);
    long endMillis = readEnd(members, nowMillis);
    Optional<Numbers> numbers = readNumbers(members, errors);
    RegionWeights regions = readRegions(members, endMillis, errors);
    members.refuseRest(KNOWN);
    if (empty) {
      errors.add(
          "", "must have tier, regions, or numbers: limit, window, or rate, period, capacity");
    }
    errors.throwIfAny();
    return new KeySetting(
        plan,
        numbers.isEmpty() && regions.isEmpty()
            ? Optional.empty()
            : Optional.of(new KeyOverride(limit, numbers, regions, endMillis)));
  }

  /** Regions would not end them at the same moment, and have more than all meanwhile. */
  private static RegionWeights readRegions(Members members, long endMillis, Errors errors) {
    if (!members.has("regions")) {
      return RegionWeights.NONE;
    }
    if (endMillis != KeyOverride.NEVER) {
      members.refuse("regions", "cannot stand beside expires_in");
      return RegionWeights.NONE;
    }
    return RegionWeights.read("regions", members.take("regions"), errors);
  }

  private static Optional<String> readName(Members members) {
    if (!members.has("name")) {
      return Optional.empty();
    }
    requireNumbers(members, "name");
    return members.has("name") ? members.text("name") : Optional.empty();
  }

  private static long readEnd(Members members, long nowMillis) {
    if (!members.has("expires_in")) {
      return KeyOverride.NEVER;
    }
    requireNumbers(members, "expires_in");
    if (!members.has("expires_in")) {
      return KeyOverride.NEVER;
    }
    Optional<Duration> time = members.duration("expires_in");
    if (time.isPresent() && (time.get().isZero() || time.get().compareTo(LONGEST) > 0)) {
      members.refuse(
          "expires_in", "must be from 1ms to 3660d, was " + Durations.format(time.get()));
    }
    return time.map(t -> nowMillis + t.toMillis()).orElse(KeyOverride.NEVER);
  }

  private static void requireNumbers(Members members, String name) {
    if (!hasAny(members, WINDOW_MEMBERS) && !hasAny(members, BUCKET_MEMBERS)) {
      members.refuse(name, "is for numbers, and there are none");
    }
  }

  private static boolean hasAny(Members members, List<String> names) {
    return names.stream().anyMatch(members::has);
  }

  /** Empty if there are none, or after an error. */
  private static Optional<Numbers> readNumbers(Members members, Errors errors) {
    boolean ofWindow = hasAny(members, WINDOW_MEMBERS);
    boolean ofBucket = hasAny(members, BUCKET_MEMBERS);
    if (ofWindow && ofBucket) {
      BUCKET_MEMBERS.stream()
          .filter(members::has)
          .forEach(name -> members.refuse(name, "cannot stand beside limit and window"));
    }
    try {
      if (ofWindow) {
        return Optional.of(new WindowNumbers(whole(members, "limit"), duration(members, "window")));
      }
      if (ofBucket) {
        OptionalDouble rate = members.has("rate") ? members.number("rate") : OptionalDouble.empty();
        return Optional.of(
            new BucketNumbers(rate, duration(members, "period"), whole(members, "capacity")));
      }
    } catch (IllegalArgumentException e) {
      errors.add("", e.getMessage());
    }
    return Optional.empty();
  }

  private static OptionalLong whole(Members members, String name) {
    return members.has(name) ? members.whole(name, 0, Algorithm.MAX_QUOTA) : OptionalLong.empty();
  }

  private static Optional<Duration> duration(Members members, String name) {
    return members.has(name) ? members.duration(name) : Optional.empty();
  }

  /** Writes the numbers of {@code override}, which limit they are of, and its regions. */
  public static Map<String, Object> format(KeyOverride override) {
    Map<String, Object> members = new LinkedHashMap<>();
    override.limit().ifPresent(name -> members.put("name", name));
    Numbers own = override.numbers().orElse(NO_NUMBERS);
    if (own instanceof WindowNumbers numbers) {
      numbers.limit().ifPresent(limit -> members.put("limit", limit));
      numbers.window().ifPresent(window -> members.put("window", Durations.format(window)));
    } else if (own instanceof BucketNumbers numbers) {
      numbers.rate().ifPresent(rate -> members.put("rate", AlgorithmFormat.number(rate)));
      numbers.period().ifPresent(period -> members.put("period", Durations.format(period)));
      numbers.capacity().ifPresent(capacity -> members.put("capacity", capacity));
    }
    if (!override.regions().isEmpty()) {
      members.put("regions", override.regions().format());
    }
    return members;
  }

  /** Writes {@code override} whole; {@link #read} reads it back. */
  static Map<String, Object> write(KeyOverride override) {
    Map<String, Object> members = format(override);
    if (override.endMillis() != KeyOverride.NEVER) {
      members.put("expires_at", override.endMillis());
    }
    return members;
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws ConfigRefusedException with code 400 if that is not what {@code members} are
   */
  static KeyOverride read(Map<String, Object> members) {
    Map<String, Object> rest = new LinkedHashMap<>(members);
    Object end = rest.remove("expires_at");
    KeyOverride override =
        parse(rest, 0)
            .override()
            .orElseThrow(() -> new ConfigRefusedException(400, List.of("has no numbers")));
    long endMillis =
        end == null
            ? KeyOverride.NEVER
            : Members.wholeOf(end, 0, Long.MAX_VALUE).orElse(KeyOverride.NEVER);
    return new KeyOverride(override.limit(), override.numbers(), override.regions(), endMillis);
  }
}
