package dev.weir.lease;

/**
 * What one entry of a journal has counted of one key and plan in one window. An incarnation may
 * have several entries of the same window; they add up.
 *
 * @param entry tells the entries of an incarnation apart, 0 or more
 * @param windowStartMillis by the store's time
 * @param windowEndMillis by the store's time
 * @param total all that the entry has counted
 * @param delta the part of {@code total} that no acknowledged batch has had; all there is of use
 *     once the window is sealed
 * @param last whether the entry will not count any more
 */
public record UsageReport(
    long entry,
    String key,
    String plan,
    long windowStartMillis,
    long windowEndMillis,
    UsageCounts total,
    UsageCounts delta,
    boolean last) {}
