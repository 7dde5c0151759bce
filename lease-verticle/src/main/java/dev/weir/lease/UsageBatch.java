package dev.weir.lease;

import java.util.List;
import java.util.OptionalLong;

/**
 * Reports that travel together and count together, or not at all.
 *
 * @param incarnation of the process that counted; there is never a second one of that name
 * @param node that the process was, for people to read
 * @param number one more than that of the incarnation's last batch with reports, beginning with 1;
 *     of a batch without reports that of the last one whose outcome is known, or 0
 * @param reports may be none: such a batch only says that the incarnation is there
 * @param watermarkMillis before which all windows of the incarnation are reported to the end, by
 *     the store's time; nothing is sealed on whose watermark nothing is known
 * @param gone whether there will be no further batch
 * @param sealedUpToMillis the highest that a receipt has told this process, or 0
 */
public record UsageBatch(
    String incarnation,
    String node,
    long number,
    List<UsageReport> reports,
    OptionalLong watermarkMillis,
    boolean gone,
    long sealedUpToMillis) {

  public UsageBatch {
    reports = List.copyOf(reports);
  }
}
