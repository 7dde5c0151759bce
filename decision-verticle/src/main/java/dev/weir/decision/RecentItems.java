package dev.weir.decision;

import java.util.ArrayList;
import java.util.List;
import org.apache.datasketches.frequencies.ErrorType;
import org.apache.datasketches.frequencies.ItemsSketch;

/**
 * The items with the greatest weights of lately, in bounded memory: frequent-items sketches (Misra
 * and Gries, 1982; Anderson et al., "A High-Performance Algorithm for Identifying Frequent Items in
 * Data Streams", 2017), one of the half under way and one of the half before. Safe to use from any
 * thread.
 */
final class RecentItems {

  /** Entries of a sketch's table; it tells apart three quarters as many. */
  private static final int TABLE_SIZE = 1024;

  private final long halfMicros;
  private ItemsSketch<String> current = new ItemsSketch<>(TABLE_SIZE);
  private ItemsSketch<String> before = new ItemsSketch<>(TABLE_SIZE);
  private long halfUntilMicros = Long.MIN_VALUE;

  /** An item, and about how much of late. */
  record Weighed(String item, long weight) {}

  RecentItems(long halfMicros) {
    this.halfMicros = halfMicros;
  }

  synchronized void add(String item, long weight, long nowMicros) {
    turn(nowMicros);
    current.update(item, weight);
  }

  /** All that stand out, in no order. */
  synchronized List<Weighed> items(long nowMicros) {
    turn(nowMicros);
    ItemsSketch<String> both = new ItemsSketch<>(TABLE_SIZE);
    both.merge(before);
    both.merge(current);
    List<Weighed> items = new ArrayList<>();
    for (ItemsSketch.Row<String> row : both.getFrequentItems(ErrorType.NO_FALSE_NEGATIVES)) {
      items.add(new Weighed(row.getItem(), row.getEstimate()));
    }
    return items;
  }

  private void turn(long nowMicros) {
    if (nowMicros < halfUntilMicros) {
      return;
    }
    // What is older than a half has nothing recent in it.
    before =
        nowMicros - halfUntilMicros < halfMicros && halfUntilMicros != Long.MIN_VALUE
            ? current
            : new ItemsSketch<>(TABLE_SIZE);
    current = new ItemsSketch<>(TABLE_SIZE);
    halfUntilMicros = nowMicros + halfMicros;
  }
}
