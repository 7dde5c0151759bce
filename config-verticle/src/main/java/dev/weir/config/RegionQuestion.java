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

    /**
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public Need {
      if (weight < 0 || weight > RegionWeights.WHOLE || !(demand >= 0) || demand > 1e18) {
        throw new IllegalArgumentException("need: was " + weight + ", " + demand);
      }
    }
  }

  public RegionQuestion {
    plans = Map.copyOf(plans);
    received = Map.copyOf(received);
  }
}
