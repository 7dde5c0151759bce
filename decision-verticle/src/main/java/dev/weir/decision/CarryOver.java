package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Unavailable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

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

  /**
   * Losses to recall, since all nodes that find one tell of it, some long after the others. Each
   * slot of a Redis Cluster may tell of its own.
   */
  static final int RECALLED = 20_000;

  /**
   * Microseconds after which a round is made again that was in vain for some keys; twice as long
   * each time, since that may last.
   */
  static final long AGAIN_MICROS = 1_000_000;

  private static final long AGAIN_MOST_MICROS = 32_000_000;

  /** Tells the store of one key. */
  @FunctionalInterface
  interface Teller {

    /**
     * Sends off what there is to tell of a key.
     *
     * @param landed given what came of it; before the return, perhaps
     * @return whether there is anything to tell
     */
    boolean tell(KeyEntry entry, Consumer<RefillOutcome> landed);
  }

  private final Clock clock;
  private final KeyTable keys;
  private final Teller teller;

  /** Losses that were told of, those of long ago first, and whether this node has found them. */
  private final Map<String, Boolean> known = new LinkedHashMap<>();

  /** Whether a round is due: there is a loss that the last one began before, or it was in vain. */
  private boolean wanted;

  private boolean underWay;
  private long notBefore;
  private long againMicros = AGAIN_MICROS;
  private int chain;

  /** Keys of this round that were told in vain. */
  private int inVain;

  /** Keys of this portion that were told, and those of them in vain. */
  private int told;

  private int toldInVain;

  /** Answers to wait for, and one more while a portion is sent off. */
  private int awaited;

  CarryOver(Clock clock, KeyTable keys, Teller teller) {
    this.clock = clock;
    this.keys = keys;
    this.teller = teller;
    this.notBefore = clock.micros();
  }

  /**
   * Starts a round for a loss, once: at once, or when the last round and the rest after it are
   * over.
   *
   * @param loss what it is known by
   * @param foundHere whether this node found it itself. Then it is worth a round, once, even if
   *     another node has told of it: this one may have been talking to a server that had yet to go
   */
  void begin(String loss, boolean foundHere) {
    synchronized (this) {
      Boolean before = known.get(loss);
      if (before != null && (before || !foundHere)) {
        return;
      }
      known.put(loss, foundHere);
      if (known.size() > RECALLED) {
        known.remove(known.keySet().iterator().next());
      }
      wanted = true;
      notBefore = Math.min(notBefore, clock.micros() + REST_MICROS);
      againMicros = AGAIN_MICROS;
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
      inVain = 0;
      told = 0;
      toldInVain = 0;
      awaited = 1;
    }
    goOn();
  }

  /** Goes on with the next portion, when all of this one has landed. */
  private void goOn() {
    while (true) {
      synchronized (this) {
        if (--awaited > 0) {
          return;
        }
        inVain += toldInVain;
        // Where none gets through, the others would not either.
        boolean cutOff = told > 0 && toldInVain == told;
        if (cutOff || chain == keys.chains()) {
          underWay = false;
          if (inVain > 0) {
            wanted = true;
            notBefore = Math.max(notBefore, clock.micros() + againMicros);
            againMicros = Math.min(2 * againMicros, AGAIN_MOST_MICROS);
          }
          return;
        }
        told = 0;
        toldInVain = 0;
        awaited = 1;
      }
      chain = keys.visit(chain, AT_ONCE, this::tell);
    }
  }

  private boolean tell(KeyEntry entry) {
    synchronized (this) {
      awaited++;
      told++;
    }
    if (teller.tell(entry, this::landed)) {
      return true;
    }
    synchronized (this) {
      awaited--;
      told--;
    }
    return false;
  }

  private void landed(RefillOutcome outcome) {
    synchronized (this) {
      if (outcome instanceof Unavailable) {
        toldInVain++;
      }
    }
    goOn();
  }
}
