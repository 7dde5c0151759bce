package dev.weir.decision;

import dev.weir.lease.KeyRoom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The keys that this node knows, as many as there are places for.
 *
 * <p>A hash table of a fixed number of chains that run through the entries themselves: it has no
 * object of its own per key, never resizes, and a look-up is lock-free. A look-up that races an
 * eviction may still return the evicted entry, which says so itself. Chains are changed under one
 * of a few locks each.
 *
 * <p>Eviction is the clock algorithm (Corbato, 1968): a hand goes round the chains and evicts the
 * first entry that was not touched since its last round. Reading costs nothing but that mark, where
 * a least-recently-used list would cost more than the decision. An entry that owes something to the
 * store is spared if another one can be found.
 */
final class KeyTable {

  private static final int LOCKS = 64;

  /** How many entries one insertion looks at for one to evict. */
  private static final int PATIENCE = 64;

  private final AtomicReferenceArray<KeyEntry> chains;
  private final Object[] locks = new Object[LOCKS];
  private final AtomicInteger size = new AtomicInteger();
  private final AtomicInteger taken = new AtomicInteger();
  private final AtomicInteger hand = new AtomicInteger();
  private final int places;
  private final Evictor evictor;

  /** Takes entries out of service. */
  @FunctionalInterface
  interface Evictor {

    /**
     * Takes an entry out of service.
     *
     * @param indebted even if it owes something to the store
     * @return false if it cannot be spared now
     */
    boolean evict(KeyEntry entry, boolean indebted);
  }

  /**
   * @param places for entries, see {@link KeyRoom}, 1 or more; those with a refill under way may be
   *     more for as long
   */
  KeyTable(int places, Evictor evictor) {
    this.places = places;
    this.evictor = evictor;
    int chainCount = Math.max(LOCKS, Integer.highestOneBit(Math.min(places, 1 << 29)) << 1);
    this.chains = new AtomicReferenceArray<>(chainCount);
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new Object();
    }
  }

  /** The entry of {@code key}, or null. */
  KeyEntry get(String key) {
    int hash = key.hashCode();
    KeyEntry entry = chains.get(chainOf(key));
    // Texts of keys are often alike up to their ends, and far from what the processor has at hand.
    while (entry != null && (entry.key.hashCode() != hash || !entry.key.equals(key))) {
      entry = entry.next;
    }
    return entry;
  }

  /** The entry of {@code key}, made if there is none. */
  KeyEntry getOrMake(String key, Function<String, KeyEntry> maker) {
    int chain = chainOf(key);
    KeyEntry entry;
    synchronized (lockOf(chain)) {
      entry = get(key);
      if (entry != null) {
        return entry;
      }
      entry = maker.apply(key);
      entry.next = chains.get(chain);
      chains.set(chain, entry);
    }
    size.incrementAndGet();
    int needed = KeyRoom.places(key);
    taken.addAndGet(needed);
    // One more than is needed, until those are gone that could not be spared before.
    boolean evicted = true;
    for (int i = 0; evicted && i <= needed && taken.get() > places; i++) {
      evicted = evictOneFor(entry);
    }
    return entry;
  }

  int size() {
    return size.get();
  }

  /** How many chains there are to {@link #visit}. */
  int chains() {
    return chains.length();
  }

  /**
   * Visits the entries of whole chains.
   *
   * @param from the first chain, 0 to {@link #chains} - 1
   * @param most how many may count before it stops
   * @param action whether the entry counts
   * @return the chain to go on from
   */
  int visit(int from, int most, Predicate<KeyEntry> action) {
    int chain = from;
    for (int counted = 0; chain < chains.length() && counted < most; chain++) {
      for (KeyEntry entry = chains.get(chain); entry != null; entry = entry.next) {
        if (action.test(entry)) {
          counted++;
        }
      }
    }
    return chain;
  }

  private boolean evictOneFor(KeyEntry made) {
    return evictOneFor(made, false) || evictOneFor(made, true);
  }

  private boolean evictOneFor(KeyEntry made, boolean indebted) {
    int looked = 0;
    // Every chain once, and once more for those that had been touched.
    for (int steps = 0; steps < 2 * chains.length() && looked < PATIENCE; steps++) {
      int chain = hand.getAndIncrement() & (chains.length() - 1);
      if (chains.get(chain) == null) {
        continue;
      }
      synchronized (lockOf(chain)) {
        KeyEntry before = null;
        for (KeyEntry entry = chains.get(chain); entry != null; entry = entry.next) {
          looked++;
          if (entry.touched) {
            entry.touched = entry == made;
          } else if (evictor.evict(entry, indebted)) {
            unlink(chain, before, entry);
            return true;
          }
          before = entry;
        }
      }
    }
    return false;
  }

  private void unlink(int chain, KeyEntry before, KeyEntry entry) {
    if (before == null) {
      chains.set(chain, entry.next);
    } else {
      before.next = entry.next;
    }
    size.decrementAndGet();
    taken.addAndGet(-KeyRoom.places(entry.key));
  }

  private int chainOf(String key) {
    int hash = key.hashCode();
    return (hash ^ (hash >>> 16)) & (chains.length() - 1);
  }

  private Object lockOf(int chain) {
    return locks[chain & (LOCKS - 1)];
  }
}
