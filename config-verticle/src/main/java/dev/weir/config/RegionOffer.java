package dev.weir.config;

import dev.weir.config.RegionQuestion.Need;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a region has for another one that asks it for weight.
 *
 * <p>A total is told once every node of this region enforces it, so that the other never has what
 * some node here still grants; and it is on the disk of every node by then, so that a region that
 * was killed does not come back with what it has given. Until then nothing more is given.
 *
 * @param told totals given, millionths by plan, that the other asks for and may count on
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
   * @param settled whether nothing is {@link #unsettled}
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
                    .map(plan -> gives(plan, config, demand.getOrDefault(name, 0.0), need))
                    .filter(gives -> gives > 0)
                    .ifPresent(
                        gives ->
                            raised.put(name, regions.ledger().of(name, other).given() + gives)));
    Map<String, Long> told = new HashMap<>(regions.ledger().givenTo(other));
    // Of plans that are no more there, totals would be told for ever.
    told.keySet().retainAll(question.plans().keySet());
    return new RegionOffer(told, raised, forgotten);
  }

  private static long gives(Plan plan, ConfigSnapshot config, double demand, Need taker) {
    Regions regions = config.regions();
    long least =
        Math.max(
            GivingRule.kept(regions.base(plan, regions.self())),
            regions.leastUsable(plan, config.endpoints()));
    return GivingRule.gives(least, Need.counted(regions.weight(plan), demand), taker);
  }

  /**
   * What keeps this region from being sure that every node of it enforces what it has given, and
   * has it on its disk: addresses of nodes, and how many are missing, since those may go on with an
   * older configuration. Empty if nothing does.
   */
  public static List<String> unsettled(Membership membership, Regions regions) {
    String given = regions.ledger().givenDigest();
    List<String> unsettled = new ArrayList<>();
    for (NodeStatus node : membership.members()) {
      if (!node.given().equals(given) || !node.savedGiven().equals(given)) {
        unsettled.add(node.address());
      }
    }
    int missing = membership.leasing() - membership.members().size();
    if (missing != 0 || membership.members().size() != membership.nodes()) {
      unsettled.add(Math.max(1, missing) + " missing");
    }
    return unsettled;
  }
}
