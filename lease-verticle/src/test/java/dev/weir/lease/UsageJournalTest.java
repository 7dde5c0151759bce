package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is counted is there when it is read again, whatever became of the process. */
class UsageJournalTest {

  private static final AccountingWindow MINUTE = AccountingWindow.of(Duration.ofMinutes(1));

  private static final long MOST_DISK = 1L << 30;

  @TempDir Path directory;

  private final VirtualClock clock = new VirtualClock();

  private UsageJournal open() {
    return UsageJournal.open(directory, MINUTE, MOST_DISK, clock);
  }

  private static List<JournalEntry> entries(JournaledIncarnation incarnation) {
    return incarnation.entries().toList();
  }

  @Test
  void aTallyCountsEachKindApart() {
    UsageJournal journal = open();
    Tally tally = journal.open("acme", "gold", 0);
    assertThat(tally.spend(3)).isTrue();
    assertThat(tally.degrade(2)).isTrue();
    assertThat(tally.deny(7)).isTrue();
    assertThat(tally.wouldDeny(1)).isTrue();
    tally.authorized(10);
    tally.authorized(9);
    JournalEntry entry = entries(journal.own()).get(0);
    assertThat(entry.key()).isEqualTo("acme");
    assertThat(entry.plan()).isEqualTo("gold");
    assertThat(entry.counted()).isEqualTo(new UsageCounts(5, 2, 7, 1, 10));
    assertThat(entry.acknowledged()).isEqualTo(UsageCounts.NONE);
    assertThat(entry.windowEndMillis() - entry.windowStartMillis()).isEqualTo(60_000);
    assertThat(entry.windowEndMillis()).isEqualTo(MINUTE.untilMicros("acme", 0) / 1000);
    journal.close();
  }

  @Test
  void aClosedTallyCountsNoMore() {
    UsageJournal journal = open();
    Tally tally = journal.open("acme", "gold", 0);
    tally.spend(3);
    JournalEntry entry = entries(journal.own()).get(0);
    assertThat(entry.closed()).isFalse();
    entry.close();
    assertThat(entry.closed()).isTrue();
    assertThat(tally.spend(1)).isFalse();
    assertThat(tally.degrade(1)).isFalse();
    assertThat(tally.deny(1)).isFalse();
    assertThat(tally.wouldDeny(1)).isFalse();
    tally.authorized(100);
    assertThat(entry.counted()).isEqualTo(new UsageCounts(3, 0, 0, 0, 0));
    journal.close();
  }

  @Test
  void theNextProcessFindsWhatOneLeft() {
    UsageJournal dead = open();
    dead.open("acme", "gold", 0).spend(3);
    dead.open("évil:{key}", "gold", 0).degrade(4);
    JournalEntry told = entries(dead.own()).get(0);
    told.sending(7, new UsageCounts(2, 0, 0, 0, 0));
    // The system takes the locks of a process that is gone.
    dead.close();

    UsageJournal next = open();
    assertThat(next.adopted()).hasSize(1);
    JournaledIncarnation left = next.adopted().get(0);
    assertThat(left.name()).isEqualTo(dead.own().name()).isNotEqualTo(next.own().name());
    assertThat(entries(left))
        .extracting(JournalEntry::key, JournalEntry::counted)
        .containsExactly(
            tuple("acme", new UsageCounts(3, 0, 0, 0, 0)),
            tuple("évil:{key}", new UsageCounts(4, 4, 0, 0, 0)));
    JournalEntry found = entries(left).get(0);
    assertThat(found.id()).isEqualTo(told.id());
    assertThat(found.sentBatch()).isEqualTo(7);
    found.acknowledge();
    assertThat(found.acknowledged()).isEqualTo(new UsageCounts(2, 0, 0, 0, 0));
    assertThat(found.sentBatch()).isZero();
    left.remove();
    next.close();
    UsageJournal third = open();
    assertThat(third.adopted())
        .extracting(JournaledIncarnation::name)
        .containsExactly(next.own().name());
    third.close();
  }

  @Test
  void whatIsCountedAfterTheEndIsLostAndWrittenToNoFile() {
    UsageJournal ended = open();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    ended.bindTo(registry);
    Tally tally = ended.open("acme", "gold", 0);
    tally.spend(3);
    ended.close();
    assertThat(tally.spend(1)).isFalse();
    assertThat(ended.open("acme", "gold", 0).spend(4)).isTrue();
    assertThat(registry.get("weir.usage.lost.units").functionCounter().count()).isEqualTo(4);

    UsageJournal next = open();
    assertThat(entries(next.adopted().get(0)))
        .extracting(entry -> entry.counted().spent())
        .containsExactly(3L);
    next.close();
  }

  @Test
  void whatHasNothingUnreportedInItGoesWhenItIsFound() throws IOException {
    UsageJournal dead = open();
    dead.open("acme", "gold", 0).spend(3);
    entries(dead.own()).forEach(UsageJournalTest::finish);
    Path left = directory.resolve(dead.own().name());
    dead.close();
    assertThat(left.resolve("00000001.usage")).exists();

    UsageJournal next = open();
    assertThat(left.resolve("00000001.usage")).doesNotExist();
    // It has yet to take its leave of the store.
    assertThat(next.adopted())
        .extracting(JournaledIncarnation::name)
        .containsExactly(dead.own().name());
    next.adopted().get(0).remove();
    assertThat(left).doesNotExist();
    next.close();
  }

  @Test
  void whatALivingProcessHasIsLeftToIt() {
    UsageJournal one = open();
    one.open("acme", "gold", 0).spend(3);
    UsageJournal other = open();
    assertThat(other.adopted()).isEmpty();
    one.close();
    other.close();
  }

  @Test
  void segmentsGoWhenAllInThemIsReleased() throws IOException {
    UsageJournal journal = open();
    for (int i = 0; i < 30_000; i++) {
      journal.open("key " + i, "gold", 0).spend(1);
    }
    Path first = directory.resolve(journal.own().name()).resolve("00000001.usage");
    assertThat(first).exists();
    List<JournalEntry> all = entries(journal.own());
    assertThat(all).hasSize(30_000);
    assertThat(all.stream().mapToLong(JournalEntry::id).distinct().count()).isEqualTo(30_000);
    Tally held = journal.open("held", "gold", 0);
    all.forEach(JournalEntry::close);
    all.forEach(JournalEntry::release);
    journal.own().trim();
    clock.advanceMicros(OwnIncarnation.DROPPED_MICROS - 1);
    journal.own().trim();
    // A thread may still be about to count in it.
    assertThat(first).hasSize(JournalSegment.SIZE);
    clock.advanceMicros(1);
    journal.own().trim();
    assertThat(first).doesNotExist();
    assertThat(entries(journal.own())).extracting(JournalEntry::key).containsExactly("held");
    assertThat(held.spend(1)).isTrue();
    journal.own().remove();
    assertThat(directory.resolve(journal.own().name())).doesNotExist();
    assertThat(held.spend(1)).isFalse();
    assertThat(journal.open("late", "gold", 0).spend(1)).isTrue();
    journal.close();
  }

  @Test
  void aDirectoryThatCannotBeWrittenAtTheStartIsUsedOnceItCan() throws IOException {
    Path place = Files.createFile(directory.resolve("place"));
    try (LogLines log = new LogLines()) {
      UsageJournal journal = UsageJournal.open(place, MINUTE, MOST_DISK, clock);
      journal.open("acme", "gold", 0).spend(3);
      assertThat(entries(journal.own())).extracting(JournalEntry::key).containsExactly("acme");
      assertThat(journal.adopted()).isEmpty();
      assertThat(metric(journal, "weir.usage.memory.bytes")).isPositive();
      assertThat(log.with("no room on the disk")).hasSize(1);
      assertThat(log.with("counted in memory")).hasSize(1);
      Files.delete(place);
      awaitRoom(journal.own());
      journal.open("acme", "free", 0).spend(4);
      journal.close();
    }
    UsageJournal next = UsageJournal.open(place, MINUTE, MOST_DISK, clock);
    assertThat(next.adopted()).hasSize(1);
    assertThat(entries(next.adopted().get(0)))
        .extracting(JournalEntry::plan, entry -> entry.counted().spent())
        .containsExactly(tuple("free", 4L));
    next.close();
  }

  private static long metric(UsageJournal journal, String name) {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    journal.bindTo(registry);
    return (long) registry.get(name).gauge().value();
  }

  /** What is kept on a disk that has no room while it is {@code full}. */
  private OwnIncarnation onDisk(AtomicBoolean full) {
    DiskAllowance disk = new DiskAllowance(MOST_DISK);
    return new OwnIncarnation(
        "name",
        number -> {
          if (full.get()) {
            throw new IOException("No space left on device");
          }
          Path file = directory.resolve(number + ".usage");
          return JournalSegment.create(number, new SegmentFile(file, disk));
        },
        () -> {},
        clock);
  }

  private static Tally append(OwnIncarnation own, String key) {
    return own.append(key, "p", 0, 60_000);
  }

  /** Until a segment is ready, which another thread makes. */
  private void awaitRoom(JournaledIncarnation incarnation) {
    OwnIncarnation own = (OwnIncarnation) incarnation;
    await()
        .until(
            () -> {
              append(own, "probe");
              entries(own).forEach(UsageJournalTest::finish);
              own.trim();
              clock.advanceMicros(OwnIncarnation.DROPPED_MICROS);
              return own.memoryBytes() == 0;
            });
  }

  private static void finish(JournalEntry entry) {
    entry.close();
    entry.release();
  }

  @Test
  void aFullDiskStopsNoDecisionAndWhatThereIsNoRoomForAtAllIsTold() {
    AtomicBoolean full = new AtomicBoolean();
    OwnIncarnation own = onDisk(full);
    full.set(true);
    try (LogLines log = new LogLines()) {
      long spent = 0;
      while (own.lostUnits() == 0) {
        assertThat(append(own, "x".repeat(1024)).spend(5)).isTrue();
        spent += 5;
      }
      append(own, "y").spend(5);
      assertThat(own.memoryBytes()).isEqualTo((long) OwnIncarnation.MOST_IN_MEMORY << 20);
      long kept = entries(own).stream().mapToLong(entry -> entry.counted().spent()).sum();
      assertThat(kept + own.lostUnits()).isEqualTo(spent + 5);
      assertThat(log.with("no room on the disk: IOException: No space left on device")).hasSize(1);
      assertThat(log.with("counted in memory")).hasSize(1);
      assertThat(log.with("units are lost")).hasSize(1);

      full.set(false);
      long lost = own.lostUnits();
      awaitRoom(own);
      append(own, "a").spend(5);
      assertThat(own.lostUnits()).isEqualTo(lost);
      assertThat(entries(own)).extracting(JournalEntry::key).containsExactly("a");
      own.remove();
    }
  }

  @Test
  void aDiskThatHasRoomAgainIsUsedBeforeMemoryIsFull() {
    AtomicBoolean full = new AtomicBoolean();
    OwnIncarnation own = onDisk(full);
    full.set(true);
    while (own.memoryBytes() == 0) {
      append(own, "x".repeat(1024));
    }
    full.set(false);
    awaitRoom(own);
    own.remove();
  }

  @Test
  void theJournalTakesNoMoreOfTheDiskThanItMay() throws IOException {
    UsageJournal dead = open();
    dead.open("left", "gold", 0).spend(1);
    dead.close();
    int most = 6;
    UsageJournal journal = UsageJournal.open(directory, MINUTE, (long) most << 20, clock);
    while (metric(journal, "weir.usage.memory.bytes") == 0) {
      for (int i = 0; i < 1_000; i++) {
        journal.open("x".repeat(1024), "gold", 0).spend(1);
      }
    }
    assertThat(diskBytes()).isEqualTo((long) most << 20);
    assertThat(metric(journal, "weir.usage.journal.bytes")).isEqualTo(diskBytes());
    assertThat(metric(journal, "weir.usage.journal.max.bytes")).isEqualTo(diskBytes());
    long counted = entries(journal.own()).stream().mapToLong(e -> e.counted().spent()).sum();
    assertThat(counted % 1_000).isZero();

    entries(journal.adopted().get(0)).forEach(UsageJournalTest::finish);
    journal.adopted().get(0).trim();
    assertThat(directory.resolve(dead.own().name()).resolve("00000001.usage")).doesNotExist();
    entries(journal.own()).forEach(UsageJournalTest::finish);
    awaitRoom(journal.own());
    journal.own().remove();
    journal.adopted().get(0).remove();
    assertThat(diskBytes()).isZero();
    assertThat(metric(journal, "weir.usage.journal.bytes")).isZero();
    journal.close();
  }

  private long diskBytes() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(Path::toFile)
          .mapToLong(java.io.File::length)
          .sum();
    }
  }

  @Test
  void aBurstOfNewKeysStaysOnTheDisk() {
    UsageJournal journal = open();
    int keys = 60_000;
    for (int i = 0; i < keys; i++) {
      journal.open("key " + i, "gold", 0).spend(1);
    }
    assertThat(metric(journal, "weir.usage.memory.bytes")).isZero();
    assertThat(entries(journal.own()).stream().mapToLong(e -> e.counted().spent()).sum())
        .isEqualTo(keys);
    journal.own().remove();
    journal.close();
  }

  @Test
  void aCounterThatCanHoldNoMoreIsFollowedByAnother() {
    UsageJournal journal = open();
    Tally tally = journal.open("acme", "gold", 0);
    assertThat(tally.spend(JournalLayout.MOST)).isTrue();
    assertThat(tally.spend(1)).isFalse();
    tally.authorized(Long.MAX_VALUE);
    assertThat(entries(journal.own()).get(0).counted())
        .isEqualTo(new UsageCounts(JournalLayout.MOST, 0, 0, 0, JournalLayout.MOST));
    assertThat(journal.open("acme", "gold", 0).spend(1)).isTrue();
    journal.close();
  }

  @Test
  void damageToWhatADeadProcessLeftIsToldAndTheRestIsRead() throws IOException {
    UsageJournal dead = open();
    dead.open("first", "gold", 0).spend(3);
    dead.open("second", "gold", 0).spend(4);
    Path left = directory.resolve(dead.own().name());
    dead.close();
    try (FileChannel file =
        FileChannel.open(left.resolve("00000001.usage"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(8), JournalLayout.HEADER + JournalLayout.LENGTH);
    }
    // As one that the system cannot read.
    Path unreadable = Files.createDirectory(left.resolve("00000099.usage"));

    try (LogLines log = new LogLines()) {
      UsageJournal next = open();
      assertThat(entries(next.adopted().get(0)))
          .extracting(JournalEntry::key)
          .containsExactly("second");
      assertThat(metric(next, "weir.usage.damaged")).isEqualTo(2);
      assertThat(log.with("cannot read all of")).hasSize(2);
      next.adopted().get(0).remove();
      assertThat(unreadable).exists();
      next.close();
    }
  }

  @Test
  void whatIsCountedAfterTheLastReportIsToldAsLost() {
    UsageJournal journal = open();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    journal.bindTo(registry);
    journal.open("told", "gold", 0).spend(2);
    JournalEntry told = entries(journal.own()).get(0);
    told.close();
    told.sending(1, told.counted());
    told.acknowledge();
    journal.open("late", "gold", 0).spend(3);
    journal.own().remove();
    assertThat(registry.get("weir.usage.lost.units").functionCounter().count()).isEqualTo(3);
    journal.close();
  }

  @Test
  void noUnitIsLostOrDoubledByClosingWhileOthersCount() {
    UsageJournal journal = open();
    int threads = 4;
    int each = 20_000;
    AtomicBoolean counting = new AtomicBoolean(true);
    CompletableFuture<?>[] counters =
        IntStream.range(0, threads)
            .mapToObj(
                thread ->
                    CompletableFuture.runAsync(
                        () -> {
                          Tally tally = journal.open("hot", "gold", 0);
                          for (int i = 0; i < each; i++) {
                            while (!tally.spend(1)) {
                              tally = journal.open("hot", "gold", 0);
                            }
                          }
                        }))
            .toArray(CompletableFuture[]::new);
    CompletableFuture<Long> closed =
        CompletableFuture.supplyAsync(
            () -> {
              Map<Long, Long> finals = new TreeMap<>();
              boolean last;
              do {
                last = !counting.get();
                journal
                    .own()
                    .entries()
                    .forEach(
                        entry -> {
                          entry.close();
                          finals.put(entry.id(), entry.counted().spent());
                          entry.release();
                        });
                journal.own().trim();
              } while (!last);
              return finals.values().stream().mapToLong(Long::longValue).sum();
            });
    CompletableFuture.allOf(counters).join();
    counting.set(false);
    assertThat(closed.join()).isEqualTo((long) threads * each);
    journal.close();
  }
}
