package dev.weir.decision;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Work that is done a piece at a time, so that its event loop serves others in between. Owned by
 * that loop.
 */
final class InTurns {

  private final BooleanSupplier piece;
  private final Consumer<Runnable> later;
  private boolean underWay;

  /**
   * @param piece does a piece of the work; false if there was nothing to do
   * @param later runs what it is given after the others that wait
   */
  InTurns(BooleanSupplier piece, Consumer<Runnable> later) {
    this.piece = piece;
    this.later = later;
  }

  /** Does one piece at once and the rest later, unless that is under way. */
  void begin() {
    if (!underWay) {
      next();
    }
  }

  private void next() {
    // Before all else: a piece that fails is the last of its turns, and not of all to come.
    underWay = false;
    if (piece.getAsBoolean()) {
      underWay = true;
      later.accept(this::next);
    }
  }
}
