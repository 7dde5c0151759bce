package dev.weir.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How regions divide the limits of plans, as one of them sees it: the table of their weights, and
 * what of them has moved since. Immutable.
 *
 * <p>A region's weight of a plan is what the table says, or the plan itself, and what it has
 * received from other regions less what it has given. Only limits whose windows are over within an
 * hour follow what has moved: of a month both regions could use the same part, one after another.
 * Others stay at what the table says, or at the weight where that is less: so a limit that is given
 * a longer window, or a shorter one, takes nothing back that the other region may have already.
 *
 * @param self the region that this is; empty as long as there is no table
 * @param table weights of plans that have none of their own; empty if there is one region only,
 *     which enforces all
 * @param ledger what has moved
 */
public record Regions(String self, RegionWeights table, RegionLedger ledger) {

  /** Of one region that enforces all. */
  public static final Regions NONE = new Regions("", RegionWeights.NONE, RegionLedger.EMPTY);

  private static final long LONGEST_MOVED_SECONDS = 3600;

  /** Of a region that has exchanged nothing yet. */
  static Regions of(String self, RegionWeights table) {
    return table.isEmpty() ? NONE : new Regions(self, table, RegionLedger.EMPTY);
  }

  /** Whether limits are divided at all. */
  public boolean divided() {
    return !table.isEmpty();
  }

  /** What {@code region} has of {@code plan} to begin with, millionths. */
  public long base(Plan plan, String region) {
    return (plan.regions().isEmpty() ? table : plan.regions()).of(region);
  }

  /** What this region has of {@code plan} now, millionths, 0 to {@link RegionWeights#WHOLE}. */
  public long weight(Plan plan) {
    return divided()
        ? Math.min(RegionWeights.WHOLE, Math.max(0, balance(plan)))
        : RegionWeights.WHOLE;
  }

  /**
   * How far this region has given more of {@code plan} than it has, millionths; 0 or more. It comes
   * of lost data, and of parts of a cluster that have both given.
   */
  public long overdrawn(Plan plan) {
    return divided() ? Math.max(0, -balance(plan)) : 0;
  }

  /** Whether weight of {@code plan} may move: some limit of it would follow. */
  public boolean moves(Plan plan) {
    return divided() && plan.limits().stream().anyMatch(limit -> follows(limit.algorithm()));
  }

  /**
   * The lowest weight with which each limit of {@code plan} that follows has room for one request
   * to each endpoint that fits to begin with, millionths.
   *
   * @param endpoints weights of requests, permits
   */
  long leastUsable(Plan plan, Map<String, Long> endpoints) {
    long base = base(plan, self);
    return plan.limits().stream()
        .filter(limit -> follows(limit.algorithm()))
        .mapToLong(limit -> leastWith(limit.algorithm(), heaviest(limit, endpoints), base))
        .max()
        .orElse(0);
  }

  private static long heaviest(Limit limit, Map<String, Long> endpoints) {
    return endpoints.entrySet().stream()
        .filter(endpoint -> limit.appliesTo(endpoint.getKey()))
        .mapToLong(Map.Entry::getValue)
        .reduce(ConfigSnapshot.DEFAULT_WEIGHT, Math::max);
  }

  /** The lowest weight, {@code base} at most, with which {@code cost} fits if it does with that. */
  private static long leastWith(Algorithm algorithm, long cost, long base) {
    long needed = Math.min(cost, algorithm.scaled(base).quota());
    long low = 0;
    long high = base;
    while (low < high) {
      long middle = (low + high) / 2;
      if (algorithm.scaled(middle).quota() >= needed) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private long balance(Plan plan) {
    return base(plan, self) + ledger.balance(plan.name());
  }

  private static boolean follows(Algorithm algorithm) {
    return algorithm.windowSeconds() <= LONGEST_MOVED_SECONDS;
  }

  /** {@code plan} as this region enforces it. */
  Plan enforced(Plan plan) {
    return divided() ? scaled(plan, base(plan, self), weight(plan)) : plan;
  }

  /** {@code plan} as this region enforces it for a key that has weights of its own. */
  Plan enforced(Plan plan, RegionWeights ofKey) {
    return divided() ? scaled(plan, ofKey.of(self), ofKey.of(self)) : plan;
  }

  private static Plan scaled(Plan plan, long fixed, long moved) {
    return plan.withLimits(
        plan.limits().stream()
            .map(
                limit ->
                    limit.with(
                        limit
                            .algorithm()
                            .scaled(follows(limit.algorithm()) ? moved : Math.min(fixed, moved))))
            .toList());
  }

  /**
   * With another table; of the region {@code region}, if it is not known yet which one this is.
   *
   * @throws ConfigRefusedException 409 if there is none while weights have moved: this region would
   *     enforce all, and the others still what they were given
   */
  Regions withTable(String region, RegionWeights newTable) {
    boolean moved = !ledger.equals(RegionLedger.EMPTY);
    if (newTable.isEmpty() && moved) {
      throw new ConfigRefusedException(
          409, List.of("regions: cannot be left out, since weights have moved between regions"));
    }
    return newTable.isEmpty()
        ? NONE
        : new Regions(divided() || moved ? self : region, newTable, ledger);
  }

  Regions withLedger(RegionLedger newLedger) {
    return new Regions(self, table, newLedger);
  }

  /**
   * Adds an error for whatever of {@code plans} does not go with the table and what has moved. A
   * plan of which too much was given before is none of this change's, unless it makes that worse.
   */
  void check(
      Map<String, Plan> plans, Regions before, Map<String, Plan> plansBefore, Errors errors) {
    if (divided() && !table.millionths().containsKey(self)) {
      errors.add("regions", "must have " + Errors.shown(self) + ", which this region is");
    }
    plans
        .values()
        .forEach(
            plan -> {
              long overdrawn =
                  Optional.ofNullable(plansBefore.get(plan.name()))
                      .map(before::overdrawn)
                      .orElse(0L);
              check(plan, overdrawn, Errors.join("plans", plan.name()), errors);
            });
  }

  private void check(Plan plan, long overdrawnBefore, String path, Errors errors) {
    plan.regions().checkIn(table, Errors.join(path, "regions"), errors);
    if (overdrawn(plan) > overdrawnBefore) {
      errors.add(
          path,
          "the weight of "
              + Errors.shown(self)
              + " must be at least "
              + RegionWeights.asNumber(-ledger.balance(plan.name()))
              + ", which it has given to other regions");
    }
  }

  /** As members that {@link #parse} reads back; empty if there is nothing to tell. */
  Optional<Map<String, Object>> format() {
    return equals(NONE)
        ? Optional.empty()
        : Optional.of(
            Map.of("self", self, "table", table.formatTable(), "ledger", ledger.format()));
  }

  /** Reads what {@link #format} wrote; {@link #NONE} if it is not there. */
  static Regions parse(Object value, Errors errors) {
    if (value == null) {
      return NONE;
    }
    Optional<Members> found = Members.of("regions", value, errors);
    if (found.isEmpty()) {
      return NONE;
    }
    Members members = found.get();
    return new Regions(
        members.text("self").orElse(""),
        RegionWeights.readTable("regions", members.take("table"), errors),
        RegionLedger.parse(members.take("ledger"), errors));
  }
}
