package dev.weir.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The sides of a comparison, which take turns: all of them in each round, so that whatever else the
 * machine does meanwhile meets all alike.
 */
final class Turns {

  /** One side. */
  @FunctionalInterface
  interface Side {

    /** Has its turn. Gives its figures by their names. */
    Map<String, Double> turn();
  }

  private final Map<String, Side> sides = new LinkedHashMap<>();

  /** Adds a side, which has its turn after those that there are. */
  Turns add(String name, Side side) {
    sides.put(name, side);
    return this;
  }

  /**
   * Has all rounds, after one that counts for nothing, in which code is compiled and leases grow.
   */
  Table take(Effort effort) {
    if (effort.hasLongTurns()) {
      sides.values().forEach(Side::turn);
    }
    Table table = new Table();
    for (int round = 0; round < effort.rounds(); round++) {
      sides.forEach((name, side) -> table.add(name, side.turn()));
    }
    return table;
  }
}
