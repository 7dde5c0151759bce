package dev.weir.decision;

import dev.weir.config.Clock;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * The entries whose lease will end, by when that is: a timing wheel (Varghese and Lauck, "Hashed
 * and Hierarchical Timing Wheels", SOSP 1987), so that an entry is looked at once a lease and not
 * again and again until then. The list of a slot runs through the entries themselves, since there
 * may be a million of them; the last one refers to itself.
 *
 * <p>Safe to use from any thread; an entry is in at most once, and is put in by who holds its
 * monitor. One that is put in while its slot is being visited may have to wait for the next turn of
 * the wheel, {@value #SLOTS} slots later.
 */
final class LeaseEnds {

  /** What a slot spans, microseconds; an end is noticed so much later at most. */
  static final long SLOT_MICROS = 5_000;

  /** A power of two, and some more than the longest lease spans. */
  private static final int SLOTS = 1024;

  private final Clock clock;
  private final AtomicReferenceArray<KeyEntry> slots = new AtomicReferenceArray<>(SLOTS);
  private final AtomicInteger count = new AtomicInteger();

  /** The last slot that was visited, counted from the beginning of time. */
  private volatile long visited;

  LeaseEnds(Clock clock) {
    this.clock = clock;
    visited = clock.micros() / SLOT_MICROS;
  }

  /**
   * Whether an entry is in. Under its monitor; one that is about to be visited may still seem to
   * be.
   */
  static boolean has(KeyEntry entry) {
    return entry.nextEnd != null;
  }

  /** Puts in an entry that is in none. */
  void add(KeyEntry entry, long untilMicros) {
    long now = clock.micros() / SLOT_MICROS;
    // The first one that begins when the lease is over.
    long slot = -Math.floorDiv(-untilMicros, SLOT_MICROS);
    count.incrementAndGet();
    push(entry, indexOf(Math.max(now + 1, Math.min(slot, now + SLOTS - 2))));
  }

  private void push(KeyEntry entry, int index) {
    KeyEntry head;
    do {
      head = slots.get(index);
      entry.nextEnd = head == null ? entry : head;
    } while (!slots.compareAndSet(index, head, entry));
  }

  /**
   * Takes out the entries whose time has come, of one slot, and has each of them visited. By one
   * thread at a time.
   *
   * @return false if there were none
   */
  boolean due(Consumer<KeyEntry> visitor) {
    long now = clock.micros() / SLOT_MICROS;
    long slot = Math.max(visited, now - SLOTS);
    KeyEntry head = null;
    while (slot < now && head == null) {
      slot++;
      head = slots.getAndSet(indexOf(slot), null);
    }
    visited = slot;
    visitList(head, visitor);
    return head != null;
  }

  /** Takes out all entries, and has each of them visited. */
  void all(Consumer<KeyEntry> visitor) {
    // Taken out first, lest one that comes in again be visited again.
    KeyEntry[] heads = new KeyEntry[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
      heads[i] = slots.getAndSet(i, null);
    }
    for (KeyEntry head : heads) {
      visitList(head, visitor);
    }
  }

  private void visitList(KeyEntry head, Consumer<KeyEntry> visitor) {
    KeyEntry entry = head;
    while (entry != null) {
      KeyEntry next = entry.nextEnd;
      entry.nextEnd = null;
      count.decrementAndGet();
      visitor.accept(entry);
      entry = next == entry ? null : next;
    }
  }

  boolean isEmpty() {
    return count.get() == 0;
  }

  private static int indexOf(long slot) {
    return (int) (slot & (SLOTS - 1));
  }
}
