package dev.weir.config;

import java.util.Map;

/**
 * What a region tells another one when it asks for weight. Immutable.
 *
 * @param region that asks
 * @param plans what it has and wants of each plan whose weight may move
 * @param received totals by plan of what it knows to have received from the other, millionths
 */
public record RegionQuestion(String region, Map<String, Need> plans, Map<String, Long> received) {

  /**
   * What a region has and wants of one plan.
   *
   * @param weight that it has, millionths
   * @param demand that it is asked for, allowed or denied, permits a second
   */
  public record Need(long weight, double demand) {

    private static final double MOST_DEMAND = 1e18;

    /**
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public Need {
      if (weight < 0 || weight > RegionWeights.WHOLE || !(demand >= 0) || demand > MOST_DEMAND) {
        throw new IllegalArgumentException("need: was " + weight + ", " + demand);
      }
    }

    /** Of this region, whose demand was counted and may be beyond what can be told. */
    public static Need counted(long weight, double demand) {
      // Not a number is above nothing, and is told as none.
      return new Need(weight, demand > 0 ? Math.min(demand, MOST_DEMAND) : 0);
    }
  }

  public RegionQuestion {
    plans = Map.copyOf(plans);
    received = Map.copyOf(received);
  }
}
