package dev.weir.bench;

import java.util.Map;
import java.util.TreeMap;

/**
 * The figures of all sides of a comparison, each from the turns that the side had. Not safe for use
 * by threads.
 */
final class Table {

  private final Map<String, Map<String, Rounds>> figures = new TreeMap<>();

  /** Adds what a side reached in its turn of a round. */
  void add(String side, Map<String, Double> turn) {
    Map<String, Rounds> known = figures.computeIfAbsent(side, first -> new TreeMap<>());
    turn.forEach((name, figure) -> known.computeIfAbsent(name, first -> new Rounds()).add(figure));
  }

  /** Whether there is a figure of that name. */
  boolean has(String side, String name) {
    return figures.getOrDefault(side, Map.of()).containsKey(name);
  }

  /**
   * The median of a side's figure over the rounds.
   *
   * @throws IllegalArgumentException if there is none
   */
  double median(String side, String name) {
    return rounds(side, name).median();
  }

  /** The median over the rounds of how often one side's figure is another's. */
  double ratio(String side, String other, String name) {
    return rounds(side, name).ratioTo(rounds(other, name));
  }

  /** The median over the rounds of what one side's figure is above another's. */
  double difference(String side, String other, String name) {
    return rounds(side, name).above(rounds(other, name));
  }

  private Rounds rounds(String side, String name) {
    if (!has(side, name)) {
      throw new IllegalArgumentException("no " + name + " of " + side);
    }
    return figures.get(side).get(name);
  }
}
