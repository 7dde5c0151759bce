package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what requests have used, and keeps it in files until it is reported: pages of a mapped
 * file outlive the process that wrote them, so that killing it loses no unit. Safe to use from any
 * thread; counting takes no lock and does not wait for the disk.
 *
 * <p>Each process keeps files of its own, in a directory that it locks. What a process left that is
 * not there any more, the next one that opens the same directory reports.
 */
public final class UsageJournal implements Usage {

  private static final Logger LOG = LoggerFactory.getLogger(UsageJournal.class);

  private final AccountingWindow window;
  private final DiskAllowance disk;
  private final JournalFiles files;
  private final OwnIncarnation own;

  private UsageJournal(
      AccountingWindow window, DiskAllowance disk, JournalFiles files, OwnIncarnation own) {
    this.window = window;
    this.disk = disk;
    this.files = files;
    this.own = own;
  }

  /**
   * Opens the journal of this process. As long as the disk will not have it, it is kept in memory,
   * and the log says so.
   *
   * @param directory of the journals of all processes; made if it is not there
   * @param maxDiskBytes that the journal takes of the disk, what dead processes left included;
   *     above 0
   * @param clock says when files that are not needed any more can be deleted
   * @throws IllegalArgumentException if it is not
   */
  public static UsageJournal open(
      Path directory, AccountingWindow window, long maxDiskBytes, Clock clock) {
    DiskAllowance disk = new DiskAllowance(maxDiskBytes);
    JournalFiles files = new JournalFiles(directory, disk);
    try {
      files.adopt();
    } catch (IOException e) {
      LOG.error(
          "usage: cannot look for what processes have left in {}: {}",
          directory,
          JournalFiles.reason(e));
    }
    return new UsageJournal(window, disk, files, files.begin(clock));
  }

  @Override
  public Tally open(String key, String plan, long storeMicros) {
    long until = window.untilMicros(key, storeMicros);
    return own.append(
        key, plan, Math.floorDiv(until - window.micros(), 1000), Math.floorDiv(until, 1000));
  }

  /** What this process counts. */
  JournaledIncarnation own() {
    return own;
  }

  /** What processes have left that are not there any more. */
  List<JournaledIncarnation> adopted() {
    return files.adopted();
  }

  /** Tells {@code registry} how large the journal is, and what it had no room for. */
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("weir.usage.journal.bytes", disk, DiskAllowance::usedBytes)
        .description("Disk that the journal takes, what dead processes have left included")
        .register(registry);
    Gauge.builder("weir.usage.journal.max.bytes", disk, DiskAllowance::mostBytes)
        .description("Disk that the journal takes at most")
        .register(registry);
    Gauge.builder("weir.usage.damaged", files, JournalFiles::damages)
        .description("Places in what dead processes have left that could not be read")
        .register(registry);
    Gauge.builder("weir.usage.memory.bytes", own, OwnIncarnation::memoryBytes)
        .description(
            "Memory that usage takes for which the disk has no room; lost with the process")
        .register(registry);
    FunctionCounter.builder("weir.usage.lost.units", own, OwnIncarnation::lostUnits)
        .description("Units that were not counted, since there was no room for them anywhere")
        .register(registry);
  }

  /** Lets go of all files, which stay as they are; what is counted from now on is lost. */
  public void close() {
    own.close();
    files.close();
  }
}
