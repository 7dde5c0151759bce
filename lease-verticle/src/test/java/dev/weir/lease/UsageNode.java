package dev.weir.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What an incarnation of a node has counted, and how it reports it: a journal without a disk. Tests
 * say when it does what.
 */
final class UsageNode {
  private final String incarnation;
  private final List<Entry> entries = new ArrayList<>();
  private final Map<String, Entry> byWindow = new HashMap<>();
  private long number;
  private long sealedUpTo;

  /** Counts of one key, plan and window. */
  private static final class Entry {
    private final long id;
    private final String key;
    private final String plan;
    private final long start;
    private final long end;
    private UsageCounts total = UsageCounts.NONE;
    private UsageCounts acknowledged = UsageCounts.NONE;

    Entry(long id, String key, String plan, long start, long end) {
      this.id = id;
      this.key = key;
      this.plan = plan;
      this.start = start;
      this.end = end;
    }

    UsageReport report() {
      UsageCounts delta =
          new UsageCounts(
              total.spent() - acknowledged.spent(),
              total.degraded() - acknowledged.degraded(),
              total.denied() - acknowledged.denied(),
              total.wouldDeny() - acknowledged.wouldDeny(),
              total.authorized());
      return new UsageReport(id, key, plan, start, end, total, delta, false);
    }
  }

  UsageNode(String incarnation) {
    this.incarnation = incarnation;
  }

  UsageNode count(String key, String plan, long start, long end, UsageCounts counts) {
    Entry entry =
        byWindow.computeIfAbsent(
            key + " " + plan + " " + start,
            k -> {
              Entry fresh = new Entry(entries.size(), key, plan, start, end);
              entries.add(fresh);
              return fresh;
            });
    entry.total = entry.total.plus(counts);
    return this;
  }

  /** A batch of everything that no acknowledged one has had. */
  UsageBatch batch() {
    return batch(
        entries.stream().filter(e -> !e.total.equals(e.acknowledged)).toList(),
        OptionalLong.empty(),
        false);
  }

  /** A batch of everything, as after a loss. */
  UsageBatch everything() {
    return batch(
        entries.stream().filter(e -> e.end > sealedUpTo).toList(), OptionalLong.empty(), false);
  }

  private UsageBatch batch(List<Entry> of, OptionalLong watermark, boolean gone) {
    List<UsageReport> reports = new ArrayList<>();
    of.forEach(entry -> reports.add(entry.report()));
    if (!reports.isEmpty()) {
      number++;
    }
    return new UsageBatch(
        incarnation, "node of " + incarnation, number, reports, watermark, gone, sealedUpTo);
  }

  UsageBatch heartbeat() {
    return batch(List.of(), OptionalLong.empty(), false);
  }

  UsageBatch watermark(long millis) {
    return batch(List.of(), OptionalLong.of(millis), false);
  }

  UsageBatch gone() {
    return batch(List.of(), OptionalLong.empty(), true);
  }

  /** The store has said that a batch counted. */
  UsageReceipt acknowledge(UsageBatch batch, UsageReceipt receipt) {
    sealedUpTo = Math.max(sealedUpTo, receipt.sealedUpToMillis());
    if (receipt.number() >= batch.number()) {
      for (UsageReport report : batch.reports()) {
        entries.get((int) report.entry()).acknowledged = report.total();
      }
    } else {
      number = receipt.number();
    }
    return receipt;
  }
}
