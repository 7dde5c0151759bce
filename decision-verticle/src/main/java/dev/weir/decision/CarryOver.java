package dev.weir.decision;

import dev.weir.config.Clock;
import java.util.function.BooleanSupplier;

/**
 * Goes through all keys of this node and has the store told what it once told of them, when it may
 * have lost that. A key that nobody asks for here may be asked for on another node, which knows
 * less of it. Goes on only as fast as the store answers, so that others get their turn. Safe to use
 * from any thread.
 */
final class CarryOver {

  /** Keys that the store is told of at once. */
  static final int AT_ONCE = 256;

  /**
   * Microseconds from the beginning of a round in which nobody begins another: every node that
   * finds the loss says so, and some take two seconds to be connected again.
   */
  static final long REST_MICROS = 5_000_000;

  /** Microseconds after which a round that was in vain is made again. */
  static final long AGAIN_MICROS = 1_000_000;

  /** Tells the store of one key. */
  @FunctionalInterface
  interface Teller {

    /**
     * Sends off what there is to tell of a key.
     *
     * @param landed run once the store has answered or will not; before the return, perhaps
     * @return whether there is anything to tell
     */
    boolean tell(KeyEntry entry, Runnable landed);
  }

  private final Clock clock;
  private final KeyTable keys;
  private final BooleanSupplier away;
  private final Teller teller;

  /** Whether the last round was in vain. */
  private boolean wanted;

  private boolean underWay;
  private long notBefore;
  private int chain;

  /** Answers to wait for, and one more while a portion is sent off. */
  private int awaited;

  /**
   * For all of {@code keys}.
   *
   * @param away whether the store did not answer when it was last asked
   */
  CarryOver(Clock clock, KeyTable keys, BooleanSupplier away, Teller teller) {
    this.clock = clock;
    this.keys = keys;
    this.away = away;
    this.teller = teller;
    this.notBefore = clock.micros();
  }

  /** Starts a round, unless one has just begun. */
  void begin() {
    synchronized (this) {
      if (underWay || clock.micros() < notBefore) {
        return;
      }
      wanted = true;
    }
    look();
  }

  /** Starts the round that is due again, if one is. To be called a few times a second. */
  void look() {
    synchronized (this) {
      if (!wanted || underWay || clock.micros() < notBefore) {
        return;
      }
      wanted = false;
      underWay = true;
      notBefore = clock.micros() + REST_MICROS;
      chain = 0;
      awaited = 1;
    }
    landed();
  }

  private void landed() {
    while (true) {
      synchronized (this) {
        if (--awaited > 0) {
          return;
        }
        if (chain > 0 && away.getAsBoolean()) {
          // All over again: what was told of last may have been told in vain.
          underWay = false;
          wanted = true;
          notBefore = clock.micros() + AGAIN_MICROS;
          return;
        }
        if (chain == keys.chains()) {
          underWay = false;
          return;
        }
        awaited = 1;
      }
      chain = keys.visit(chain, AT_ONCE, this::tell);
    }
  }

  private boolean tell(KeyEntry entry) {
    synchronized (this) {
      awaited++;
    }
    if (teller.tell(entry, this::landed)) {
      return true;
    }
    synchronized (this) {
      awaited--;
    }
    return false;
  }
}
