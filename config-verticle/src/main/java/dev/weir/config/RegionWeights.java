package dev.weir.config;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which part of a limit each region enforces, in millionths, so that sums are exact. A region that
 * is left out has none of it. Immutable.
 *
 * @param millionths by region, 0 to {@link #WHOLE} each and together
 */
public record RegionWeights(Map<String, Long> millionths) {

  /** All of a limit. */
  public static final long WHOLE = 1_000_000;

  /** Of a limit that regions do not divide. */
  public static final RegionWeights NONE = new RegionWeights(Map.of());

  private static final int DECIMALS = 6;
  private static final int MOST_REGIONS = 64;

  /**
   * @throws IllegalArgumentException if a weight is out of its range, or their sum is
   */
  public RegionWeights {
    millionths = Map.copyOf(millionths);
    if (millionths.values().stream().anyMatch(weight -> weight < 0 || weight > WHOLE)
        || sum(millionths) > WHOLE) {
      throw new IllegalArgumentException("regions: must be 0 to 1 together, were " + millionths);
    }
  }

  /** Whether no region is named. */
  public boolean isEmpty() {
    return millionths.isEmpty();
  }

  /** The weight of {@code region}, millionths. */
  public long of(String region) {
    return millionths.getOrDefault(region, 0L);
  }

  /** The regions named, joined for people. */
  public String names() {
    return String.join(", ", new TreeSet<>(millionths.keySet()));
  }

  /** {@code millionths} as people write it, at most 6 decimals. */
  public static double asNumber(long millionths) {
    return BigDecimal.valueOf(millionths, DECIMALS).doubleValue();
  }

  private static long sum(Map<String, Long> weights) {
    return weights.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Reads a table, {@code {eu: {weight: 0.6}, us: {weight: 0.4}}}.
   *
   * @throws ConfigRefusedException with code 400 and every error found
   */
  public static RegionWeights parseTable(Map<String, ?> body) {
    Errors errors = new Errors();
    RegionWeights table = readTable("regions", body, errors);
    errors.throwIfAny();
    return table;
  }

  /** As a table, {@link #parseTable} reads it back. */
  public Map<String, Object> formatTable() {
    Map<String, Object> members = new TreeMap<>();
    millionths.forEach((region, weight) -> members.put(region, Map.of("weight", number(weight))));
    return members;
  }

  /** Reads a table; {@link #NONE} if it is not there, or after an error. */
  static RegionWeights readTable(String path, Object value, Errors errors) {
    Map<String, Object> weights = new TreeMap<>();
    if (value instanceof Map<?, ?> table) {
      for (Map.Entry<?, ?> entry : table.entrySet()) {
        String region = String.valueOf(entry.getKey());
        String regionPath = Errors.join(path, region);
        Optional<Members> found = Members.of(regionPath, entry.getValue(), errors);
        if (found.isPresent() && !found.get().isMissing("weight")) {
          weights.put(region, found.get().take("weight"));
        }
        found.ifPresent(members -> members.refuseRest("weight"));
      }
    } else if (value != null) {
      errors.add(path, "must be a map, was " + Errors.shown(value));
    }
    return read(path, weights, errors);
  }

  /** Reads {@code {eu: 0.8, us: 0.2}}; {@link #NONE} after an error. */
  static RegionWeights read(String path, Object value, Errors errors) {
    if (!(value instanceof Map<?, ?> members)) {
      errors.add(path, "must be a map, was " + Errors.shown(value));
      return NONE;
    }
    Map<String, Long> weights = new TreeMap<>();
    List<String> faults = new ArrayList<>();
    for (Map.Entry<?, ?> entry : members.entrySet()) {
      String region = String.valueOf(entry.getKey());
      OptionalLong weight = millionths(entry.getValue());
      if (!Limit.isName(region)) {
        errors.add(Errors.join(path, region), "the name of a region " + Limit.NAME_RULE);
        faults.add(region);
      } else if (weight.isEmpty()) {
        errors.add(
            Errors.join(path, region),
            "must be a number from 0 to 1 with at most 6 decimals, was "
                + Errors.shown(entry.getValue()));
        faults.add(region);
      } else {
        weights.put(region, weight.getAsLong());
      }
    }
    if (members.size() > MOST_REGIONS) {
      errors.add(path, "must be at most " + MOST_REGIONS + " regions, was " + members.size());
      return NONE;
    }
    if (sum(weights) > WHOLE) {
      errors.add(path, "must be at most 1 together, was " + number(sum(weights)).toPlainString());
      return NONE;
    }
    return faults.isEmpty() ? new RegionWeights(weights) : NONE;
  }

  /** As {@link #read} reads it back. */
  Map<String, Object> format() {
    Map<String, Object> members = new TreeMap<>();
    millionths.forEach((region, weight) -> members.put(region, number(weight)));
    return members;
  }

  /** Adds an error for each region that is not in {@code table}. */
  void checkIn(RegionWeights table, String path, Errors errors) {
    new TreeSet<>(millionths.keySet())
        .stream()
            .filter(region -> !table.millionths.containsKey(region))
            .forEach(
                region ->
                    errors.add(
                        Errors.join(path, region),
                        "is not in the table of regions"
                            + (table.isEmpty() ? ", which is empty" : ": " + table.names())));
  }

  private static BigDecimal number(long millionths) {
    BigDecimal exact = BigDecimal.valueOf(millionths, DECIMALS).stripTrailingZeros();
    return exact.scale() < 0 ? exact.setScale(0) : exact;
  }

  private static OptionalLong millionths(Object value) {
    if (!(value instanceof Number number) || !Double.isFinite(number.doubleValue())) {
      return OptionalLong.empty();
    }
    BigDecimal scaled = new BigDecimal(number.toString()).movePointRight(DECIMALS);
    return scaled.signum() < 0
            || scaled.compareTo(BigDecimal.valueOf(WHOLE)) > 0
            || scaled.stripTrailingZeros().scale() > 0
        ? OptionalLong.empty()
        : OptionalLong.of(scaled.longValueExact());
  }
}
