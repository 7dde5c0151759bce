package dev.weir.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A map whose entries are gone when their time has come, and that has a limited number of places.
 * Where these do not suffice, those entries go first that would be gone soonest. Owned by one
 * thread.
 *
 * <p>Entries are in a binary heap, and know where in it they are; so a step takes the logarithm of
 * their number. They stand there by when they were to expire once: one whose time is put off, as it
 * is again and again, moves on only when that moment comes, since each step down a heap of a
 * million waits for memory. There is no timer: every {@link #put} looks at up to {@value #LOOKS}
 * whose moment has come, and drops or moves them; it makes for two of these at most.
 */
final class ExpiringMap<K, V> {
  private static final int LOOKS = 4;

  /** Says how many places an entry takes. */
  @FunctionalInterface
  interface Weigher<K, V> {

    /** The places of an entry, 1 or more. */
    int places(K key, V value);
  }

  /** Hears of what had to go. */
  @FunctionalInterface
  interface Listener<K, V> {

    /** An entry was dropped for want of places, before its time had come. */
    void dropped(K key, V value);
  }

  private static final class Entry<K, V> {
    private final K key;
    private V value;
    private double expiresMillis;

    /** By which it stands in the heap, at most {@link #expiresMillis}. */
    private double queuedMillis = Double.MAX_VALUE;

    private int places;
    private int index;

    Entry(K key, int index) {
      this.key = key;
      this.index = index;
    }
  }

  private final long most;
  private final Weigher<K, V> weigher;
  private final Listener<K, V> listener;
  private final Map<K, Entry<K, V>> entries = new HashMap<>();

  /** None is queued for sooner than the one that is above it, at half its index. */
  private final List<Entry<K, V>> heap = new ArrayList<>();

  private long taken;

  /** One with room for any number of entries, which something else has to bound. */
  ExpiringMap() {
    this(Long.MAX_VALUE, (key, value) -> 1, (key, value) -> {});
  }

  /**
   * @param most places, 1 or more; a single entry may take more than there are
   */
  ExpiringMap(long most, Weigher<K, V> weigher, Listener<K, V> listener) {
    this.most = most;
    this.weigher = weigher;
    this.listener = listener;
  }

  Optional<V> get(K key, long nowMillis) {
    Entry<K, V> entry = entries.get(key);
    if (entry == null) {
      return Optional.empty();
    }
    if (entry.expiresMillis <= nowMillis) {
      drop(entry);
      return Optional.empty();
    }
    return Optional.of(entry.value);
  }

  void put(K key, V value, double expiresMillis, long nowMillis) {
    Entry<K, V> entry = entries.get(key);
    if (entry == null) {
      entry = new Entry<>(key, heap.size());
      entries.put(key, entry);
      heap.add(entry);
    }
    entry.expiresMillis = expiresMillis;
    set(entry, value);
    if (expiresMillis < entry.queuedMillis) {
      entry.queuedMillis = expiresMillis;
      moveUp(entry);
    }
    for (int i = 0; i < LOOKS && heap.get(0).queuedMillis <= nowMillis; i++) {
      Entry<K, V> first = heap.get(0);
      if (isLate(first)) {
        queueAnew(first);
      } else if (first != entry) {
        drop(first);
      }
    }
    makeRoomFor(entry, nowMillis);
  }

  /** Whether its time was put off since it was queued. */
  private static boolean isLate(Entry<?, ?> entry) {
    return entry.queuedMillis < entry.expiresMillis;
  }

  private void queueAnew(Entry<K, V> entry) {
    entry.queuedMillis = entry.expiresMillis;
    moveDown(entry);
  }

  /** Gives an entry another value, for the time that it has left; does nothing if it has none. */
  void replace(K key, V value) {
    Entry<K, V> entry = entries.get(key);
    if (entry != null) {
      set(entry, value);
    }
  }

  void remove(K key) {
    Entry<K, V> entry = entries.get(key);
    if (entry != null) {
      drop(entry);
    }
  }

  int size() {
    return heap.size();
  }

  private void set(Entry<K, V> entry, V value) {
    int places = weigher.places(entry.key, value);
    taken += places - entry.places;
    entry.places = places;
    // A reference that is written is one for the collector to look at, be it the same.
    if (entry.value != value) {
      entry.value = value;
    }
  }

  private void makeRoomFor(Entry<K, V> kept, long nowMillis) {
    while (taken > most && heap.size() > 1) {
      Entry<K, V> first = heap.get(0) == kept ? firstBelow(0) : heap.get(0);
      if (isLate(first)) {
        queueAnew(first);
        continue;
      }
      drop(first);
      if (first.expiresMillis > nowMillis) {
        listener.dropped(first.key, first.value);
      }
    }
  }

  private void drop(Entry<K, V> entry) {
    entries.remove(entry.key);
    taken -= entry.places;
    Entry<K, V> last = heap.remove(heap.size() - 1);
    if (last != entry) {
      place(last, entry.index);
      moveUp(last);
      moveDown(last);
    }
  }

  // ---- the heap

  private void place(Entry<K, V> entry, int index) {
    heap.set(index, entry);
    entry.index = index;
  }

  private void moveUp(Entry<K, V> entry) {
    while (entry.index > 0) {
      Entry<K, V> above = heap.get((entry.index - 1) / 2);
      if (above.queuedMillis <= entry.queuedMillis) {
        return;
      }
      swap(entry, above);
    }
  }

  private void moveDown(Entry<K, V> entry) {
    while (2 * entry.index + 1 < heap.size()) {
      Entry<K, V> below = firstBelow(entry.index);
      if (entry.queuedMillis <= below.queuedMillis) {
        return;
      }
      swap(entry, below);
    }
  }

  private Entry<K, V> firstBelow(int index) {
    Entry<K, V> left = heap.get(2 * index + 1);
    if (2 * index + 2 == heap.size()) {
      return left;
    }
    Entry<K, V> right = heap.get(2 * index + 2);
    return right.queuedMillis < left.queuedMillis ? right : left;
  }

  private void swap(Entry<K, V> one, Entry<K, V> other) {
    int index = one.index;
    place(one, other.index);
    place(other, index);
  }
}
