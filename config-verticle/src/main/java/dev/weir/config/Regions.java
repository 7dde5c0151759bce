package dev.weir.config;

import java.util.Map;
import java.util.Optional;

/**
 * How regions divide the limits of plans, as one of them sees it: the table of their weights, and
 * what of them has moved since. Immutable.
 *
 * <p>A region's weight of a plan is what the table says, or the plan itself, and what it has
 * received from other regions less what it has given. Only limits whose windows are over within an
 * hour follow what has moved: of a month both regions could use the same part, one after another.
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

  /** Whether weight of {@code plan} may move: some limit of it would follow. */
  public boolean moves(Plan plan) {
    return divided() && plan.limits().stream().anyMatch(limit -> follows(limit.algorithm()));
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
                    new Limit(
                        limit.name(),
                        limit.endpoints(),
                        limit.algorithm().scaled(follows(limit.algorithm()) ? moved : fixed),
                        limit.strict()))
            .toList());
  }

  /** With another table, of the region {@code region}, if it has one. */
  Regions withTable(String region, RegionWeights newTable) {
    // What has moved is of the region that it was written down by.
    boolean unnamed = self.isEmpty() || ledger.equals(RegionLedger.EMPTY);
    String name = newTable.isEmpty() ? "" : region;
    return new Regions(unnamed ? name : self, newTable, ledger);
  }

  Regions withLedger(RegionLedger newLedger) {
    return new Regions(self, table, newLedger);
  }

  /** Adds an error for whatever of {@code plans} does not go with the table and what has moved. */
  void check(Map<String, Plan> plans, Errors errors) {
    if (divided() && !table.millionths().containsKey(self)) {
      errors.add("regions", "must have " + Errors.shown(self) + ", which this region is");
    }
    plans.values().forEach(plan -> check(plan, Errors.join("plans", plan.name()), errors));
  }

  private void check(Plan plan, String path, Errors errors) {
    plan.regions().checkIn(table, Errors.join(path, "regions"), errors);
    if (divided() && balance(plan) < 0) {
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
