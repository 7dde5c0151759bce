package dev.weir.lease;

/**
 * What a store says of a batch.
 *
 * @param number of the incarnation's last batch that counted
 * @param sealedUpToMillis windows that ended then or before are sealed
 * @param lost whether the store has lost batches that had counted. The batch has counted all the
 *     same; all entries of windows that are not sealed are to be reported again.
 * @param full whether there is no room, so that no report of the batch has counted
 */
public record UsageReceipt(long number, long sealedUpToMillis, boolean lost, boolean full) {}
