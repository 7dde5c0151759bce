package dev.weir.config;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What a region has given of its weights to others, and received from them.
 *
 * <p>All amounts are totals that only grow, as in a bounded counter (Balegas et al., "Extending
 * Eventually Consistent Cloud Databases for Enforcing Numeric Invariants", SRDS 2015). The giver
 * writes down a higher total, and enforces it, before it tells the receiver, who writes down the
 * highest total that it was told. So an answer that is lost, late, repeated or overtaken moves
 * nothing twice: what a region has received from another is never more than the other has given,
 * and the weights of all regions are never more together than they were to begin with. Immutable.
 *
 * @param plans totals by plan, and by the other region; also of plans that are no more, since
 *     totals must not fall where one of the same name comes
 */
public record RegionLedger(Map<String, Map<String, Totals>> plans) {

  /** With nothing given or received. */
  public static final RegionLedger EMPTY = new RegionLedger(Map.of());

  private static final String GIVEN = "given";
  private static final String RECEIVED = "received";

  /**
   * Between this region and another one, of one plan.
   *
   * @param given to the other, millionths, 0 or more
   * @param received from the other, millionths, 0 or more
   */
  public record Totals(long given, long received) {

    /** Of regions that have exchanged nothing. */
    public static final Totals ZERO = new Totals(0, 0);

    /**
     * @throws IllegalArgumentException if a total is negative
     */
    public Totals {
      if (given < 0 || received < 0) {
        throw new IllegalArgumentException("totals: were " + given + ", " + received);
      }
    }

    private Totals highest(Totals other) {
      return new Totals(Math.max(given, other.given), Math.max(received, other.received));
    }
  }

  public RegionLedger {
    Map<String, Map<String, Totals>> copy = new HashMap<>();
    plans.forEach((plan, totals) -> copy.put(plan, Map.copyOf(totals)));
    plans = Map.copyOf(copy);
  }

  /** What is known of {@code plan} and the region {@code other}. */
  public Totals of(String plan, String other) {
    return plans.getOrDefault(plan, Map.of()).getOrDefault(other, Totals.ZERO);
  }

  /** What came of {@code plan} on balance, millionths; negative if more was given. */
  long balance(String plan) {
    return plans.getOrDefault(plan, Map.of()).values().stream()
        .mapToLong(totals -> totals.received - totals.given)
        .sum();
  }

  /** Totals by plan of what was given to {@code other}. */
  public Map<String, Long> givenTo(String other) {
    return totals(other, Totals::given);
  }

  /** Totals by plan of what was received from {@code other}. */
  public Map<String, Long> receivedFrom(String other) {
    return totals(other, Totals::received);
  }

  /** Tells apart what was given to anyone; empty if nothing was. */
  public String givenDigest() {
    TreeMap<String, Long> given = new TreeMap<>();
    plans.forEach(
        (plan, by) ->
            by.forEach(
                (region, totals) -> {
                  if (totals.given > 0) {
                    // No region's name has a space.
                    given.put(region + " " + plan, totals.given);
                  }
                }));
    return given.isEmpty()
        ? ""
        : Sha256.of(given.toString().getBytes(StandardCharsets.UTF_8)).substring(0, 16);
  }

  private Map<String, Long> totals(String other, Function<Totals, Long> part) {
    Map<String, Long> totals = new TreeMap<>();
    plans.forEach(
        (plan, by) -> {
          long total = part.apply(by.getOrDefault(other, Totals.ZERO));
          if (total > 0) {
            totals.put(plan, total);
          }
        });
    return totals;
  }

  /** With totals given to {@code other} that are at least {@code given}. */
  RegionLedger giving(String other, Map<String, Long> given) {
    Map<String, Map<String, Totals>> raised = new HashMap<>();
    given.forEach((plan, total) -> raised.put(plan, Map.of(other, new Totals(total, 0))));
    return with(new RegionLedger(raised));
  }

  /** With totals received from {@code other} that are at least {@code received}. */
  RegionLedger receiving(String other, Map<String, Long> received) {
    Map<String, Map<String, Totals>> raised = new HashMap<>();
    received.forEach((plan, total) -> raised.put(plan, Map.of(other, new Totals(0, total))));
    return with(new RegionLedger(raised));
  }

  /** The higher total of each pair: of two parts of a region neither forgets what it gave. */
  RegionLedger with(RegionLedger other) {
    Map<String, Map<String, Totals>> all = new HashMap<>(plans);
    other.plans.forEach(
        (plan, totals) -> {
          Map<String, Totals> merged = new HashMap<>(all.getOrDefault(plan, Map.of()));
          totals.forEach((region, total) -> merged.merge(region, total, Totals::highest));
          all.put(plan, merged);
        });
    return new RegionLedger(all);
  }

  /** Whether no total of {@code other} is higher. */
  boolean covers(RegionLedger other) {
    return with(other).plans.equals(plans);
  }

  /** As members that a JSON writer takes; {@link #parse} reads them back. */
  Map<String, Object> format() {
    Map<String, Object> byPlan = new TreeMap<>();
    plans.forEach(
        (plan, by) -> {
          Map<String, Object> byRegion = new TreeMap<>();
          by.forEach(
              (region, totals) ->
                  byRegion.put(region, Map.of(GIVEN, totals.given, RECEIVED, totals.received)));
          byPlan.put(plan, byRegion);
        });
    return Map.of("plans", byPlan);
  }

  /** Reads what {@link #format} wrote; {@link #EMPTY} if it is not there. */
  static RegionLedger parse(Object value, Errors errors) {
    if (value == null) {
      return EMPTY;
    }
    Optional<Members> found = Members.of("ledger", value, errors);
    if (found.isEmpty()) {
      return EMPTY;
    }
    Map<String, Map<String, Totals>> plans = new HashMap<>();
    if (found.get().take("plans") instanceof Map<?, ?> byPlan) {
      byPlan.forEach(
          (plan, byRegion) -> plans.put(String.valueOf(plan), parseTotals(byRegion, errors)));
    }
    return new RegionLedger(plans);
  }

  private static Map<String, Totals> parseTotals(Object value, Errors errors) {
    Map<String, Totals> totals = new HashMap<>();
    if (value instanceof Map<?, ?> byRegion) {
      byRegion.forEach(
          (region, members) ->
              Members.of("ledger", members, errors)
                  .ifPresent(
                      found ->
                          totals.put(
                              String.valueOf(region),
                              new Totals(
                                  found.whole(GIVEN, 0, Long.MAX_VALUE).orElse(0),
                                  found.whole(RECEIVED, 0, Long.MAX_VALUE).orElse(0)))));
    }
    return totals;
  }
}
