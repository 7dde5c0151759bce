package dev.weir.config;

import dev.weir.config.RegionQuestion.Need;

/**
 * How much of its weight a region gives to another one at once: so much that the weights of the two
 * come to stand like their demand, a step at a time. Small differences move nothing, so that noise
 * does not, and each region keeps some, so that its callers are never without.
 */
final class GivingRule {

  /** A region keeps this part at least of what it had to begin with. */
  static final double KEPT = 0.05;

  /** As much moves at once at most, millionths of the limit. */
  static final long STEP = 50_000;

  /** Less than this part of what both have is not worth a move. */
  static final double SLACK = 0.02;

  private GivingRule() {}

  /**
   * What a region keeps whatever it is asked for, millionths.
   *
   * @param base weight that it had to begin with, millionths
   */
  static long kept(long base) {
    return (long) Math.ceil(base * KEPT);
  }

  /**
   * Millionths to give, 0 or more.
   *
   * @param least weight that the giver keeps, millionths
   */
  static long gives(long least, Need giver, Need taker) {
    double demand = giver.demand() + taker.demand();
    if (demand == 0) {
      return 0;
    }
    long both = giver.weight() + taker.weight();
    long due = (long) Math.ceil(both * (giver.demand() / demand));
    long surplus = giver.weight() - Math.max(due, least);
    return surplus < Math.max(1, both * SLACK) ? 0 : Math.min(surplus, STEP);
  }
}
