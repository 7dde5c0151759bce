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

  private static final int WARM_UPS = 3;

  private final Map<String, Side> sides = new LinkedHashMap<>();

  /** Adds a side, which has its turn after those that there are. */
  Turns add(String name, Side side) {
    sides.put(name, side);
    return this;
  }

  /**
   * Has all rounds. Long turns come after some that count for nothing, in which code is compiled
   * and leases grow.
   */
  Table take(Effort effort) {
    if (effort.hasLongTurns()) {
      for (int round = 0; round < WARM_UPS; round++) {
        sides.values().forEach(Side::turn);
      }
    }
    Table table = new Table();
    for (int round = 0; round < effort.rounds(); round++) {
      sides.forEach((name, side) -> table.add(name, side.turn()));
    }
    return table;
  }
}
