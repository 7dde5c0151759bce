package dev.weir.lease;

/**
 * How far usage has been added up and read.
 *
 * @param nowMillis the store's time
 * @param openWindows windows that are not sealed
 * @param watermarkMillis before which all windows of all nodes that are heard of are reported to
 *     the end; the store's time if none is
 * @param unacknowledged entries that a reader of the group has read and not acknowledged
 */
public record UsageProgress(
    long nowMillis, long openWindows, long watermarkMillis, long unacknowledged) {}
