package dev.weir.config;

import dev.weir.config.RegionQuestion.Need;

/**
 * How much of its weight a region gives to another one at once: so much that the weights of the two
 * come to stand like their demand, a step at a time. Small differences move nothing, so that noise
 * does not, and each region keeps some, so that its callers are never without.
 */
final class GivingRule {

  /** A region keeps this part of what it had to begin with. */
  static final double KEPT = 0.05;

  /** As much moves at once at most, millionths of the limit. */
  static final long STEP = 50_000;

  /** Less than this part of what both have is not worth a move. */
  static final double SLACK = 0.02;

  private GivingRule() {}

  /**
   * Millionths to give, 0 or more.
   *
   * @param base weight that the giver had to begin with, millionths
   */
  static long gives(long base, Need giver, Need taker) {
    double demand = giver.demand() + taker.demand();
    if (demand == 0) {
      return 0;
    }
    long both = giver.weight() + taker.weight();
    double due = Math.max(both * (giver.demand() / demand), base * KEPT);
    long surplus = giver.weight() - (long) Math.ceil(due);
    return surplus < Math.max(1, both * SLACK) ? 0 : Math.min(surplus, STEP);
  }
}
