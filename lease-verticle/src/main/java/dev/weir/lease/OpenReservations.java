package dev.weir.lease;

import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * What reservations hold of one limit of a key, in the order in which they end: the twin of {@code
 * <limit>:reserved} in {@code refill.lua}. Owned by one thread.
 */
final class OpenReservations {
  /** How many whose time is over one look ends. */
  static final int MOST_ENDED = 1000;

  /**
   * What one holds.
   *
   * @param atMicros when it was granted, by the store's clock
   * @param endMicros when it goes back
   * @param id of the reservation
   * @param units permits
   * @param mark what the bucket had leaked, the number of the window, or the time of the entry
   */
  record Part(long atMicros, long endMicros, String id, long units, double mark) {}

  private final TreeSet<Part> parts =
      new TreeSet<>(Comparator.comparingLong(Part::endMicros).thenComparing(Part::id));

  /** What the bucket has leaked since these were counted, permits. */
  double leaked;

  void add(Part part) {
    parts.add(part);
  }

  /** Takes a part out; false if it is not there any more. */
  boolean remove(Part part) {
    return parts.remove(part);
  }

  int size() {
    return parts.size();
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Takes out those that have ended, the first {@value #MOST_ENDED} of them. */
  List<Part> removeUpTo(long nowMicros) {
    List<Part> over =
        parts.stream().takeWhile(part -> part.endMicros <= nowMicros).limit(MOST_ENDED).toList();
    over.forEach(parts::remove);
    return over;
  }

  /** What is left of a part of a bucket, permits. */
  double unleaked(double units, double mark) {
    return Math.max(0, units - (leaked - mark));
  }
}
