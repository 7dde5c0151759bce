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
      assertThat(history.store.spent()).isEqualTo(history.counted);
      assertThat(history.store.incarnations).isEmpty();
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
      journal = UsageJournal.open(directory, WINDOW, 1L << 30);
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
                      store.receive(batch);
                      reporter.unanswered(false);
                    });
        case LOSE_BATCH -> next().ifPresent(batch -> reporter.unanswered(step.amount() % 2 == 0));
        case FULL ->
            next()
                .ifPresent(
                    batch ->
                        assertThat(reporter.answered(store.refuse(batch)))
                            .isEqualTo(batch.reports().isEmpty() || store.has(batch)));
        case KILL -> {
          // A batch may be on its way, and arrive or not.
          next().filter(batch -> step.amount() % 2 == 0).ifPresent(store::receive);
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
      next().ifPresent(batch -> reporter.answered(store.receive(batch)));
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
    }
  }

  /** A store that takes batches in the order of their numbers, each once. */
  private static final class Ledger {
    private final Map<String, Long> numbers = new HashMap<>();
    private final Map<String, UsageReport> latest = new HashMap<>();
    private final Set<String> incarnations = new HashSet<>();
    private long sum;

    UsageReceipt receive(UsageBatch batch) {
      long last = numbers.getOrDefault(batch.incarnation(), 0L);
      if (!batch.reports().isEmpty() && batch.number() > last) {
        assertThat(batch.number()).isEqualTo(last + 1);
        last = batch.number();
        for (UsageReport report : batch.reports()) {
          sum += report.delta().spent();
          latest.put(batch.incarnation() + " " + report.entry(), report);
        }
      }
      if (batch.gone()) {
        numbers.remove(batch.incarnation());
        incarnations.remove(batch.incarnation());
      } else {
        numbers.put(batch.incarnation(), last);
        incarnations.add(batch.incarnation());
      }
      return new UsageReceipt(last, 0, false, false);
    }

    /** Whether the batch has counted before. */
    boolean has(UsageBatch batch) {
      return numbers.getOrDefault(batch.incarnation(), 0L) >= batch.number();
    }

    UsageReceipt refuse(UsageBatch batch) {
      if (batch.reports().isEmpty()) {
        return receive(batch);
      }
      return new UsageReceipt(numbers.getOrDefault(batch.incarnation(), 0L), 0, false, true);
    }

    /** By the parts that came, which is what all that came last says as well. */
    long spent() {
      assertThat(latest.values().stream().mapToLong(report -> report.total().spent()).sum())
          .isEqualTo(sum);
      return sum;
    }
  }
}
