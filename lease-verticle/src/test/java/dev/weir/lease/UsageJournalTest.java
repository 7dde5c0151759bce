package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
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

  @TempDir Path directory;

  private UsageJournal open() {
    return UsageJournal.open(directory, MINUTE);
  }

  private static List<JournalEntry> entries(JournaledIncarnation incarnation) {
    List<JournalEntry> entries = new ArrayList<>();
    incarnation.forEach(entries::add);
    return entries;
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
    assertThat(tally.untilMicros()).isEqualTo(MINUTE.untilMicros("acme", 0));
    assertThat(entry.windowEndMillis() - entry.windowStartMillis()).isEqualTo(60_000);
    assertThat(entry.windowEndMillis()).isEqualTo(tally.untilMicros() / 1000);
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
    long most = segments(journal);
    assertThat(most).isGreaterThan(3);
    List<JournalEntry> all = entries(journal.own());
    assertThat(all).hasSize(30_000);
    assertThat(all.stream().mapToLong(JournalEntry::id).distinct().count()).isEqualTo(30_000);
    Tally held = journal.open("held", "gold", 0);
    all.forEach(JournalEntry::close);
    all.forEach(JournalEntry::release);
    journal.own().trim();
    assertThat(segments(journal)).isLessThan(most);
    assertThat(entries(journal.own())).extracting(JournalEntry::key).containsExactly("held");
    assertThat(held.spend(1)).isTrue();
    journal.own().remove();
    assertThat(directory.resolve(journal.own().name())).doesNotExist();
    assertThat(held.spend(1)).isFalse();
    assertThat(journal.open("late", "gold", 0).spend(1)).isTrue();
    journal.close();
  }

  private long segments(UsageJournal journal) throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve(journal.own().name()))) {
      return files.filter(file -> file.toString().endsWith(".usage")).count();
    }
  }

  @Test
  void whereTheDiskWillNotHaveItMemoryDoes() throws IOException {
    Path file = Files.createFile(directory.resolve("a file"));
    UsageJournal journal = UsageJournal.open(file, MINUTE);
    journal.open("acme", "gold", 0).spend(3);
    assertThat(entries(journal.own())).extracting(JournalEntry::key).containsExactly("acme");
    assertThat(journal.adopted()).isEmpty();
    journal.close();
  }

  /** What is kept on a disk that has no room while it is {@code full}. */
  private OwnIncarnation onDisk(AtomicBoolean full) throws IOException {
    return new OwnIncarnation(
        "name",
        number -> {
          if (full.get()) {
            throw new IOException("No space left on device");
          }
          return JournalSegment.create(number, directory.resolve(number + ".usage"));
        },
        () -> {});
  }

  @Test
  void aFullDiskStopsNoDecisionAndWhatThereIsNoRoomForAtAllIsCounted() throws IOException {
    AtomicBoolean full = new AtomicBoolean();
    OwnIncarnation own = onDisk(full);
    full.set(true);
    long spent = 0;
    while (own.lostUnits() == 0) {
      assertThat(own.append("x".repeat(1024), "p", 0, 60_000, 60_000_000).spend(5)).isTrue();
      spent += 5;
    }
    assertThat(own.memoryBytes()).isEqualTo((long) OwnIncarnation.MOST_IN_MEMORY << 20);
    long kept = entries(own).stream().mapToLong(entry -> entry.counted().spent()).sum();
    assertThat(kept + own.lostUnits()).isEqualTo(spent);

    full.set(false);
    entries(own).forEach(JournalEntry::release);
    own.trim();
    long lost = own.lostUnits();
    own.append("a", "p", 0, 60_000, 60_000_000).spend(5);
    assertThat(own.lostUnits()).isEqualTo(lost);
    assertThat(entries(own)).extracting(JournalEntry::key).containsExactly("a");
    own.remove();
  }

  @Test
  void aDiskThatHasRoomAgainIsUsedBeforeMemoryIsFull() throws IOException {
    AtomicBoolean full = new AtomicBoolean();
    OwnIncarnation own = onDisk(full);
    full.set(true);
    while (own.memoryBytes() == 0) {
      own.append("x".repeat(1024), "p", 0, 60_000, 60_000_000);
    }
    full.set(false);
    // Making segments is for another thread, so that one may be ready some time later.
    await()
        .until(
            () -> {
              own.trim();
              own.append("y", "p", 0, 60_000, 60_000_000);
              entries(own).forEach(JournalEntry::close);
              entries(own).forEach(JournalEntry::release);
              own.trim();
              return own.memoryBytes() == 0;
            });
    own.remove();
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

  @Test
  void aJournalCutAnywhereKeepsAllThatIsWhollyBeforeTheCut() throws IOException {
    Random random = new Random(1);
    Path whole = directory.resolve("whole.usage");
    JournalSegment segment = JournalSegment.create(1, whole);
    List<Integer> ends = new ArrayList<>();
    List<UsageCounts> counts = new ArrayList<>();
    int end = JournalLayout.HEADER;
    for (int i = 0; i < 12; i++) {
      String key = "k".repeat(1 + random.nextInt(20));
      Tally tally = segment.append(key, "p", 0, 60_000, 60_000_000).orElseThrow();
      long units = random.nextInt(1_000);
      tally.spend(units);
      end += JournalLayout.lengthOf(new byte[key.length()], new byte[1]);
      ends.add(end);
      counts.add(new UsageCounts(units, 0, 0, 0, 0));
    }
    byte[] bytes = Files.readAllBytes(whole);
    for (int cut = 0; cut <= end + 64; cut++) {
      Path file = directory.resolve("cut.usage");
      Files.write(file, Arrays.copyOf(bytes, cut));
      List<String> losses = new ArrayList<>();
      List<UsageCounts> found = new ArrayList<>();
      JournalSegment.recover(1, file, losses::add).forEach(entry -> found.add(entry.counted()));
      int before = cut;
      int expected = (int) ends.stream().filter(each -> each <= before).count();
      assertThat(found).as("cut at %d", cut).isEqualTo(counts.subList(0, expected));
      assertThat(losses).as("cut at %d", cut).hasSize(1);
      Files.delete(file);
    }
  }

  @Test
  void adoptingReadsOverWhatIsDamagedAndTellsOfIt() throws IOException {
    Random random = new Random(2);
    Path whole = directory.resolve("whole.usage");
    JournalSegment segment = JournalSegment.create(1, whole);
    for (int i = 0; i < 5; i++) {
      segment.append("key " + i, "p", 0, 60_000, 60_000_000).orElseThrow().spend(i);
    }
    byte[] bytes = Files.readAllBytes(whole);
    for (int i = 0; i < 500; i++) {
      byte[] damaged = bytes.clone();
      int at = random.nextInt(1_000);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Path file = directory.resolve("damaged.usage");
      Files.write(file, damaged);
      List<String> losses = new ArrayList<>();
      List<JournalEntry> found = new ArrayList<>();
      JournalSegment.recover(1, file, losses::add).forEach(found::add);
      assertThat(found).allSatisfy(entry -> assertThat(entry.counted().spent()).isNotNegative());
      if (found.size() < 5) {
        assertThat(losses).as("byte %d", at).isNotEmpty();
      }
      Files.delete(file);
    }
  }
}
