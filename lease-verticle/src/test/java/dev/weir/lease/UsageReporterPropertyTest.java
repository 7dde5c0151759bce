package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Invariant 7, on the way from the journal to the store: every unit arrives once. */
class UsageReporterPropertyTest {

  private static final AccountingWindow WINDOW = AccountingWindow.of(Duration.ofSeconds(10));

  enum Kind {
    COUNT,
    ADVANCE,
    DELIVER,
    LOSE_ANSWER,
    LOSE_BATCH,
    FULL,
    /** Somebody else calls the store, which seals what is due. */
    SEAL,
    /** So long without a word that the others' windows no longer wait for this node. */
    CUT_OFF,
    /** The store forgets what it has put in no record yet. */
    LOSE_DATA,
    KILL,
    STOP
  }

  record Step(Kind kind, int amount) {}

  @Provide
  Arbitrary<List<Step>> histories() {
    return Combinators.combine(
            Arbitraries.frequency(
                Tuple.of(6, Kind.COUNT),
                Tuple.of(4, Kind.ADVANCE),
                Tuple.of(8, Kind.DELIVER),
                Tuple.of(2, Kind.LOSE_ANSWER),
                Tuple.of(2, Kind.LOSE_BATCH),
                Tuple.of(1, Kind.FULL),
                Tuple.of(3, Kind.SEAL),
                Tuple.of(1, Kind.CUT_OFF),
                Tuple.of(1, Kind.LOSE_DATA),
                Tuple.of(1, Kind.KILL),
                Tuple.of(1, Kind.STOP)),
            Arbitraries.integers().between(0, 60))
        .as(Step::new)
        .list()
        .ofMinSize(10)
        .ofMaxSize(150);
  }

  @Property(tries = 60)
  void everyUnitArrivesOnceWhateverIsLostOnTheWay(@ForAll("histories") List<Step> steps)
      throws IOException {
    Path directory = Files.createTempDirectory("weir-usage");
    try {
      History history = new History(directory);
      steps.forEach(history::run);
      history.settle();
      assertThat(history.store.billed()).isEqualTo(history.counted);
    } finally {
      delete(directory);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Example
  void noWatermarkIsToldBeforeWhatWasLostIsToldAgain() throws IOException {
    Path directory = Files.createTempDirectory("weir-usage");
    try {
      History history = new History(directory);
      history.deliver();
      history.run(new Step(Kind.COUNT, 5));
      assertThat(history.next().orElseThrow().reports()).hasSize(1);
      assertThat(history.reporter.answered(new UsageReceipt(1, 0, true, false))).isTrue();
      assertThat(history.next().orElseThrow().watermarkMillis()).isEmpty();
      assertThat(history.reporter.answered(new UsageReceipt(1, 0, false, false))).isTrue();
      assertThat(history.next().orElseThrow().reports()).hasSize(1);
      assertThat(history.reporter.answered(new UsageReceipt(2, 0, false, false))).isTrue();
      assertThat(history.next().orElseThrow().watermarkMillis()).isPresent();
      history.journal.close();
    } finally {
      delete(directory);
    }
  }

  /** One node after another in one directory, and what lies between them and the store. */
  private static final class History {
    private final VirtualClock clock = new VirtualClock();
    private final Ledger store = new Ledger();
    private final Path directory;
    private final Random random = new Random(7);
    private long counted;
    private UsageJournal journal;
    private UsageReporter reporter;

    History(Path directory) {
      this.directory = directory;
      start();
    }

    private void start() {
      journal = UsageJournal.open(directory, WINDOW, 1L << 30, clock);
      reporter =
          new UsageReporter(
              journal.own(), journal.adopted(), () -> "node", clock, new StoreClock(clock), random);
    }

    void run(Step step) {
      switch (step.kind()) {
        case COUNT -> count(step.amount());
        case ADVANCE -> clock.advance(Duration.ofMillis(step.amount() * 100L));
        case DELIVER -> deliver();
        case LOSE_ANSWER ->
            next()
                .ifPresent(
                    batch -> {
                      receive(batch);
                      reporter.unanswered(false);
                    });
        case LOSE_BATCH -> next().ifPresent(batch -> reporter.unanswered(step.amount() % 2 == 0));
        case FULL ->
            next()
                .ifPresent(
                    batch -> {
                      boolean known = batch.reports().isEmpty() || store.has(batch);
                      assertThat(reporter.answered(store.receive(batch, now(), true)))
                          .isEqualTo(known);
                    });
        case SEAL -> store.seal(now());
        case CUT_OFF -> {
          clock.advance(Ledger.GONE.plusMillis(1));
          store.seal(now());
        }
        case LOSE_DATA -> store.loseData();
        case KILL -> {
          // A batch may be on its way, and arrive or not.
          next().filter(batch -> step.amount() % 2 == 0).ifPresent(this::receive);
          journal.close();
          start();
        }
        case STOP -> stop();
      }
    }

    private void count(int amount) {
      Tally tally = journal.open("key " + amount % 7, "p", new StoreClock(clock).micros());
      assertThat(amount % 3 == 0 ? tally.degrade(amount) : tally.spend(amount)).isTrue();
      counted += amount;
    }

    private Optional<UsageBatch> next() {
      clock.advanceMicros(reporter.waitMicros() > 2_000_000 ? 0 : reporter.waitMicros());
      return reporter.next();
    }

    private void deliver() {
      next().ifPresent(batch -> reporter.answered(receive(batch)));
    }

    private UsageReceipt receive(UsageBatch batch) {
      return store.receive(batch, now(), false);
    }

    private long now() {
      return clock.epochMillis();
    }

    private void stop() {
      reporter.end();
      for (int i = 0; i < 10_000 && !reporter.ended(); i++) {
        clock.advanceMicros(reporter.waitMicros());
        deliver();
      }
      assertThat(reporter.ended()).isTrue();
      journal.close();
      start();
    }

    void settle() {
      stop();
      stop();
      reporter.end();
      while (!reporter.ended()) {
        clock.advanceMicros(reporter.waitMicros());
        deliver();
      }
      journal.close();
      clock.advance(Ledger.GONE);
      store.seal(now());
    }
  }

  /**
   * The rules of {@code usage.lua}, for a store that loses no record, nor what was told by those
   * who have ended in order and cannot tell it again; after a loss all others have told again what
   * they know before it goes on to seal.
   */
  private static final class Ledger {
    static final Duration GONE = Duration.ofMinutes(1);
    private static final long SETTLE_MILLIS = 10_000;

    private record Window(String key, String plan, long startMillis, long endMillis) {}

    /** What has no record yet, by the entries that it was counted in. */
    private record Memory(
        Map<String, Long> numbers,
        Map<String, Long> watermarks,
        Map<String, Long> heard,
        Map<Window, Map<String, Long>> open) {

      Memory() {
        this(new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>());
      }

      Memory copy() {
        Map<Window, Map<String, Long>> windows = new HashMap<>();
        open.forEach((window, entries) -> windows.put(window, new HashMap<>(entries)));
        return new Memory(
            new HashMap<>(numbers), new HashMap<>(watermarks), new HashMap<>(heard), windows);
      }
    }

    private final Set<Window> sealed = new HashSet<>();
    private final Set<String> awaited = new HashSet<>();
    private Memory memory = new Memory();

    /** What is lost is what came since. */
    private Memory kept = new Memory();

    private long sealedUpToMillis;
    private long billed;

    UsageReceipt receive(UsageBatch batch, long now, boolean full) {
      String from = batch.incarnation();
      boolean reports = !batch.reports().isEmpty();
      long last = memory.numbers.getOrDefault(from, 0L);
      boolean lost = batch.number() > last + (reports ? 1 : 0);
      sealedUpToMillis = Math.max(sealedUpToMillis, batch.sealedUpToMillis());
      boolean counts = reports && batch.number() > last && !full;
      if (counts) {
        last = batch.number();
        memory.numbers.put(from, last);
        long before = billed;
        batch.reports().forEach(report -> add(from, report));
        if (billed > before) {
          kept = memory.copy();
        }
      }
      memory.heard.put(from, now);
      if (!lost && batch.watermarkMillis().isPresent()) {
        memory.watermarks.merge(from, batch.watermarkMillis().getAsLong(), Math::max);
        awaited.remove(from);
      }
      if (batch.gone() && !lost) {
        memory.heard.remove(from);
        kept = memory.copy();
      }
      if (!full) {
        seal(now);
      }
      return new UsageReceipt(last, sealedUpToMillis, lost, full && reports);
    }

    private void add(String from, UsageReport report) {
      Window window =
          new Window(
              report.key(), report.plan(), report.windowStartMillis(), report.windowEndMillis());
      if (!memory.open.containsKey(window) && window.endMillis <= sealedUpToMillis) {
        billed += report.delta().spent();
      } else {
        memory
            .open
            .computeIfAbsent(window, w -> new HashMap<>())
            .merge(from + " " + report.entry(), report.total().spent(), Math::max);
      }
    }

    void seal(long now) {
      if (!awaited.isEmpty()) {
        return;
      }
      long lowest = now - SETTLE_MILLIS;
      for (Map.Entry<String, Long> each : memory.heard.entrySet()) {
        if (each.getValue() > now - GONE.toMillis()) {
          lowest = Math.min(lowest, memory.watermarks.getOrDefault(each.getKey(), 0L));
        }
      }
      long upTo = lowest;
      List<Window> due = memory.open.keySet().stream().filter(w -> w.endMillis <= upTo).toList();
      for (Window window : due) {
        assertThat(sealed.add(window)).as("a second record of %s", window).isTrue();
        billed += memory.open.remove(window).values().stream().mapToLong(Long::longValue).sum();
      }
      if (!due.isEmpty()) {
        kept = memory.copy();
      }
      sealedUpToMillis = Math.max(sealedUpToMillis, upTo);
    }

    void loseData() {
      awaited.addAll(memory.heard.keySet());
      memory = kept.copy();
    }

    /** Whether the batch has counted before. */
    boolean has(UsageBatch batch) {
      return memory.numbers.getOrDefault(batch.incarnation(), 0L) >= batch.number();
    }

    /** What all records say together. */
    long billed() {
      assertThat(memory.open).isEmpty();
      return billed;
    }
  }
}
