package dev.weir.lease;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What is to be told of one incarnation, call by call. Owned by one thread.
 *
 * <p>It is done by sweeps. A sweep goes through the journal, closes the entries whose windows are
 * over and tells of all that have counted something that is not acknowledged, in batches, one after
 * another; in the end the store is told that all windows up to the sweep's watermark are reported.
 * It looks only as far ahead as the next batch, since the journal may have more entries than the
 * heap has room for.
 *
 * <p>Every count arrives once, since each batch has a number and the store takes numbers in their
 * order, each once (as the idempotent producers of Kafka do, KIP-98). Number and counts of a batch
 * are in the journal before it is sent. As long as it is not known whether it has counted, the same
 * batch is sent again, by the next process if need be, and no other.
 *
 * <p>A store may also lose what has counted. It tells when numbers are missing; then all that it
 * has not sealed is reported again, which is harmless where it was not lost, since reports hold
 * what an entry has counted in all. For that entries stay until their window is sealed.
 */
final class IncarnationReports {

  /** More would hold up refills, which have the same Redis, for more than a millisecond. */
  static final int MOST_REPORTS = 32;

  /** How long after its end a window is closed, so that nodes whose clocks differ agree. */
  static final long CLOSE_MILLIS = 1_000;

  private enum Stage {
    /** Not heard of by the store yet, and not told which of its batches have counted. */
    UNKNOWN,
    IDLE,
    SWEEPING,
    /** Everything has arrived; says that nothing more will come. */
    LEAVING,
    GONE
  }

  private final JournaledIncarnation journal;

  /** Whether its process has ended, so that nothing more is counted. */
  private final boolean adopted;

  /** Batches that may have been sent, by their numbers; more than one after a crash at most. */
  private final SortedMap<Long, List<JournalEntry>> sent = new TreeMap<>();

  /** What the sweep has yet to look at. */
  private Iterator<JournalEntry> unseen = Collections.emptyIterator();

  /** Until when windows were sealed when the sweep began. */
  private long sealedMillis;

  /** Whether nothing more was counted when the sweep began. */
  private boolean last;

  /** Whether the sweep tells of all that is not sealed. */
  private boolean again;

  /** Whether there was anything to tell in this sweep. */
  private boolean found;

  private Stage stage = Stage.UNKNOWN;

  /** Of the last batch whose outcome is known. */
  private long number;

  private long watermarkMillis;

  /** Entries that have arrived and wait for their window to be sealed. */
  private long kept;

  /** Whether the store may lack what it has acknowledged. */
  private boolean doubted;

  private boolean ending;

  /**
   * @param adopted whether the process that counted has ended
   */
  IncarnationReports(JournaledIncarnation journal, boolean adopted) {
    this.journal = journal;
    this.adopted = adopted;
    // What the process was told and did not live to act on.
    this.doubted = adopted;
    journal
        .entries()
        .forEach(
            entry -> {
              if (entry.sentBatch() != 0) {
                sent.computeIfAbsent(entry.sentBatch(), batch -> new ArrayList<>()).add(entry);
              }
            });
  }

  /** Nothing more is counted: all is closed, reported, and not kept until it is sealed. */
  void end() {
    ending = true;
  }

  /** Whether there is nothing left of it. */
  boolean gone() {
    return stage == Stage.GONE;
  }

  boolean adopted() {
    return adopted;
  }

  /** Whether all that was found has arrived, so that {@link #sweep} may begin anew. */
  boolean idle() {
    return stage == Stage.IDLE;
  }

  /**
   * Begins to look for what is to be reported.
   *
   * @param storeMillis the store's time
   * @param sealedUpToMillis until when windows are sealed
   */
  void sweep(long storeMillis, long sealedUpToMillis) {
    stage = Stage.SWEEPING;
    again = doubted;
    doubted = false;
    watermarkMillis = storeMillis - CLOSE_MILLIS;
    sealedMillis = sealedUpToMillis;
    last = ending;
    found = false;
    kept = 0;
    unseen = journal.entries().iterator();
  }

  /** Looks at an entry; whether there is something to tell of it. */
  private boolean look(JournalEntry entry) {
    if (adopted || last || entry.windowEndMillis() <= watermarkMillis) {
      entry.close();
    }
    boolean sealed = entry.windowEndMillis() <= sealedMillis;
    UsageCounts counted = entry.counted();
    if (!counted.equals(entry.acknowledged())
        || (again && !sealed && !counted.equals(UsageCounts.NONE))) {
      return true;
    }
    if (entry.closed() && (sealed || counted.equals(UsageCounts.NONE))) {
      entry.release();
    } else {
      kept++;
    }
    return false;
  }

  /** Whether the sweep, at its end, has found that nothing is left that would be missed. */
  private boolean nothingLeft() {
    return !found && (last || (adopted && kept == 0));
  }

  /**
   * What to tell the store next; nothing until the next sweep if empty.
   *
   * @param node that reports
   */
  Optional<UsageBatch> next(String node, long sealedUpToMillis) {
    return switch (stage) {
      case IDLE, GONE -> Optional.empty();
      case UNKNOWN -> Optional.of(word(node, OptionalLong.empty(), sealedUpToMillis));
      case SWEEPING -> {
        note();
        if (sent.isEmpty() && nothingLeft()) {
          stage = Stage.LEAVING;
        }
        yield Optional.of(
            sent.isEmpty()
                ? word(node, watermark(), sealedUpToMillis)
                : batch(node, sealedUpToMillis));
      }
      case LEAVING -> Optional.of(word(node, OptionalLong.of(watermarkMillis), sealedUpToMillis));
    };
  }

  /** Writes down what the next batch will tell, before it is sent, unless one is under way. */
  private void note() {
    if (!sent.isEmpty()) {
      return;
    }
    List<JournalEntry> entries = new ArrayList<>();
    while (entries.size() < MOST_REPORTS && unseen.hasNext()) {
      JournalEntry entry = unseen.next();
      if (look(entry)) {
        entry.sending(number + 1, entry.counted());
        entries.add(entry);
      }
    }
    if (entries.isEmpty()) {
      journal.trim();
    } else {
      found = true;
      sent.put(number + 1, entries);
    }
  }

  private UsageBatch batch(String node, long sealedUpToMillis) {
    long first = sent.firstKey();
    List<UsageReport> reports =
        sent.getOrDefault(first, List.of()).stream().map(IncarnationReports::report).toList();
    return new UsageBatch(
        journal.name(), node, first, reports, OptionalLong.empty(), false, sealedUpToMillis);
  }

  private static UsageReport report(JournalEntry entry) {
    UsageCounts total = entry.sent();
    return new UsageReport(
        entry.id(),
        entry.key(),
        entry.plan(),
        entry.windowStartMillis(),
        entry.windowEndMillis(),
        total,
        total.since(entry.acknowledged()),
        entry.closed());
  }

  /** Not all up to there is reported as long as the store may lack some of it. */
  private OptionalLong watermark() {
    return doubted ? OptionalLong.empty() : OptionalLong.of(watermarkMillis);
  }

  private UsageBatch word(String node, OptionalLong watermark, long sealedUpToMillis) {
    return new UsageBatch(
        journal.name(),
        node,
        number,
        List.of(),
        watermark,
        stage == Stage.LEAVING,
        sealedUpToMillis);
  }

  /**
   * The store has answered.
   *
   * @return false if there was no room for the batch, which is to be told again
   */
  boolean answered(UsageBatch batch, UsageReceipt receipt, long storeMillis) {
    doubted |= receipt.lost();
    if (!batch.reports().isEmpty()) {
      return counted(batch.number(), receipt.number());
    }
    switch (stage) {
      case UNKNOWN -> {
        number = receipt.number();
        // Its batches that were under way are not part of what the first sweep finds.
        found = !sent.isEmpty();
        stage = found ? Stage.SWEEPING : Stage.IDLE;
        watermarkMillis = 0;
      }
      case SWEEPING -> stage = Stage.IDLE;
      case LEAVING -> leave(storeMillis, receipt.sealedUpToMillis());
      case IDLE, GONE -> throw new IllegalStateException("an answer in stage " + stage);
    }
    return true;
  }

  private boolean counted(long told, long lastCounted) {
    if (lastCounted < told) {
      return false;
    }
    List<JournalEntry> entries = sent.remove(told);
    if (entries != null) {
      entries.forEach(JournalEntry::acknowledge);
    }
    number = Math.max(number, told);
    return true;
  }

  /** What was counted while the store was told that nothing would come has to come after all. */
  private void leave(long storeMillis, long sealedUpToMillis) {
    sweep(storeMillis, sealedUpToMillis);
    note();
    if (nothingLeft()) {
      journal.remove();
      stage = Stage.GONE;
    }
  }

  /** It is not known whether the batch has counted. */
  void unanswered(UsageBatch batch) {
    // The answer may have been that the store had lost what came before; it says so but once.
    doubted |= !batch.reports().isEmpty();
  }
}
