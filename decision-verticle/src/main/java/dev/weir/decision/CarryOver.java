package dev.weir.decision;

import dev.weir.config.Clock;
import java.util.LinkedHashSet;
import java.util.Set;
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
   * Microseconds from the beginning of a round to that of the next: a store of many parts loses
   * them one after another.
   */
  static final long REST_MICROS = 1_000_000;

  /** Losses to recall, since all nodes that find one tell of it, some long after the others. */
  static final int RECALLED = 1_024;

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

  /** Losses that were told of, those of long ago first. */
  private final Set<String> known = new LinkedHashSet<>();

  /** Whether a round is due: there is a loss that the last one began before, or it was in vain. */
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

  /**
   * Starts a round for a loss, once: at once, or when the last round and the rest after it are
   * over.
   *
   * @param loss what it is known by
   * @param foundHere whether this node found it itself. Then it is worth a round even if another
   *     node has told of it: this one may have been talking to a server that had yet to go
   */
  void begin(String loss, boolean foundHere) {
    synchronized (this) {
      if (!known.add(loss) && !foundHere) {
        return;
      }
      if (known.size() > RECALLED) {
        known.remove(known.iterator().next());
      }
      wanted = true;
    }
    look();
  }

  /** Starts the round that is due, if one is. To be called a few times a second. */
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
