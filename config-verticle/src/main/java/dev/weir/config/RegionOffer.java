package dev.weir.config;

import dev.weir.config.RegionQuestion.Need;
import java.util.HashMap;
import java.util.Map;

/**
 * What a region has for another one that asks it for weight.
 *
 * <p>A total is told once every node of this region enforces it, so that the other never has what
 * some node here still grants; and it is on the disk of every node by then, so that a region that
 * was killed does not come back with what it has given. Until then nothing more is given.
 *
 * @param told totals given, millionths by plan, that the other may count on
 * @param raised totals that are to be given next; told another time
 * @param forgotten totals that the other has received, and that this region does not know of since
 *     it has lost its data: they were given
 */
public record RegionOffer(
    Map<String, Long> told, Map<String, Long> raised, Map<String, Long> forgotten) {

  public RegionOffer {
    told = Map.copyOf(told);
    raised = Map.copyOf(raised);
    forgotten = Map.copyOf(forgotten);
  }

  /**
   * The answer to {@code question}.
   *
   * @param config in force on this node
   * @param demand of all nodes of this region, permits a second by plan
   * @param settled see {@link #settled}
   */
  public static RegionOffer to(
      RegionQuestion question, ConfigSnapshot config, Map<String, Double> demand, boolean settled) {
    Regions regions = config.regions();
    String other = question.region();
    Map<String, Long> forgotten = new HashMap<>();
    question
        .received()
        .forEach(
            (plan, total) -> {
              if (total > regions.ledger().of(plan, other).given()
                  && config.plans().containsKey(plan)) {
                forgotten.put(plan, total);
              }
            });
    if (!settled) {
      return new RegionOffer(Map.of(), Map.of(), forgotten);
    }
    Map<String, Long> raised = new HashMap<>();
    question
        .plans()
        .forEach(
            (name, need) ->
                config
                    .plan(name)
                    .filter(plan -> regions.moves(plan) && regions.base(plan, other) > 0)
                    .map(plan -> gives(plan, regions, demand.getOrDefault(name, 0.0), need))
                    .filter(gives -> gives > 0)
                    .ifPresent(
                        gives ->
                            raised.put(name, regions.ledger().of(name, other).given() + gives)));
    return new RegionOffer(regions.ledger().givenTo(other), raised, forgotten);
  }

  private static long gives(Plan plan, Regions regions, double demand, Need taker) {
    Need giver = new Need(regions.weight(plan), demand);
    return GivingRule.gives(regions.base(plan, regions.self()), giver, taker);
  }

  /**
   * Whether every node of this region enforces what it has given, and has it on its disk. While a
   * node is missing it may go on with an older configuration, so nothing is settled.
   */
  public static boolean settled(Membership membership, Regions regions) {
    String given = regions.ledger().givenDigest();
    return membership.leasing() == membership.nodes()
        && membership.members().size() == membership.nodes()
        && membership.members().stream()
            .allMatch(node -> node.given().equals(given) && node.savedGiven().equals(given));
  }
}
