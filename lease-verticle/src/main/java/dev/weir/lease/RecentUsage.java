package dev.weir.lease;

import java.util.Comparator;

/**
 * What a key has used under a plan in a window of late.
 *
 * @param windowStartMillis by the store's time
 * @param windowEndMillis by the store's time
 * @param counts of all nodes, as far as they have reported
 * @param sealed whether the window's record has been made; later reports still count here
 */
public record RecentUsage(
    String plan, long windowStartMillis, long windowEndMillis, UsageCounts counts, boolean sealed) {

  static final Comparator<RecentUsage> OLDEST_FIRST =
      Comparator.comparingLong(RecentUsage::windowStartMillis).thenComparing(RecentUsage::plan);
}
