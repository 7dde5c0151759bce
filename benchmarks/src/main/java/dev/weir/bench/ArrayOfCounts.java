package dev.weir.bench;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The least that counting by key can take: an array with open addressing, whose slots are the
 * counters. It neither grows nor forgets.
 */
final class ArrayOfCounts implements Contender {

  /** Spreads hashes that lie close together: Knuth, The Art of Computer Programming, 6.4. */
  private static final int GOLDEN_RATIO = 0x9E3779B9;

  private final AtomicReferenceArray<String> keys;
  private final AtomicLongArray counts;
  private final int shift;

  ArrayOfCounts(int keys) {
    // Two to four times as many slots as keys.
    this.shift = Integer.numberOfLeadingZeros(keys) - 1;
    int slots = 1 << (Integer.SIZE - shift);
    this.keys = new AtomicReferenceArray<>(slots);
    this.counts = new AtomicLongArray(slots);
  }

  @Override
  public Object decide(String key) {
    int slot = (key.hashCode() * GOLDEN_RATIO) >>> shift;
    while (!isOf(key, slot)) {
      slot = (slot + 1) & (keys.length() - 1);
    }
    return counts.incrementAndGet(slot) > 0;
  }

  private boolean isOf(String key, int slot) {
    String there = keys.get(slot);
    if (there == null) {
      there = keys.compareAndSet(slot, null, key) ? key : keys.get(slot);
    }
    return there.equals(key);
  }
}
