package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Whatever happens to nodes, batches and readers, the records add up to what was counted, to the
 * unit, and there is one sealed record of a window.
 */
final class UsagePropertyTest {
  private static final long MINUTE = 60_000;
  private static final int NODES = 3;
  private static final int READERS = 2;
  private static final Duration LEFT_BEHIND = Duration.ofMillis(5);

  private static Vertx vertx;
  private static int fleets;

  @BeforeContainer
  static void startVertx() {
    vertx = Vertx.vertx();
  }

  @AfterContainer
  static void closeVertx() {
    StoreDriver.await(vertx.close());
  }

  enum Kind {
    COUNT,
    REPORT,
    /** The store counts it; the node never learns. */
    REPORT_UNANSWERED,
    /** The store never learns. */
    REPORT_UNSENT,
    WATERMARK,
    PASS,
    /** The node dies, and another incarnation finds what it left. */
    RESTART,
    LEAVE,
    READ,
    /** A reader dies with a page in its hands. */
    READ_AND_DIE
  }

  /**
   * @param who which node or reader
   * @param amount units, or seconds
   */
  record Move(Kind kind, int who, int key, int amount) {}

  @Provide
  Arbitrary<List<Move>> moves() {
    Arbitrary<Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(8, Kind.COUNT),
            Tuple.of(5, Kind.REPORT),
            Tuple.of(3, Kind.REPORT_UNANSWERED),
            Tuple.of(2, Kind.REPORT_UNSENT),
            Tuple.of(3, Kind.WATERMARK),
            Tuple.of(6, Kind.PASS),
            Tuple.of(1, Kind.RESTART),
            Tuple.of(1, Kind.LEAVE),
            Tuple.of(3, Kind.READ),
            Tuple.of(1, Kind.READ_AND_DIE));
    return Combinators.combine(
            kinds,
            Arbitraries.integers().between(0, 5),
            Arbitraries.integers().between(0, 1),
            Arbitraries.integers().between(1, 40))
        .as(Move::new)
        .list()
        .ofMinSize(20)
        .ofMaxSize(100);
  }

  /** The processes of a node, what it has counted, and what it found of those before it. */
  private static final class Life {
    private final List<UsageNode> nodes = new ArrayList<>();
    private final Map<UsageNode, UsageBatch> unanswered = new HashMap<>();

    private UsageNode current() {
      return nodes.get(nodes.size() - 1);
    }
  }

  private final VirtualClock time = new VirtualClock();
  private UsageScript script;
  private UsageTime redisTime;
  private UsageStore usage;
  private final List<Life> processes = new ArrayList<>();
  private final List<UsageReader> readers = new ArrayList<>();
  private final List<UsageRecord> read = new ArrayList<>();
  private int incarnations;
  private int consumers;
  private UsageCounts counted = UsageCounts.NONE;

  @Property(tries = 100)
  void recordsAddUpToWhatWasCounted(@ForAll("moves") List<Move> moves) {
    processes.clear();
    readers.clear();
    read.clear();
    counted = UsageCounts.NONE;
    script = new UsageScript("fleet" + fleets++);
    redisTime = new UsageTime(new RedisTime.Standalone(RedisServer.shared().probe()), time, script);
    redisTime.tell();
    StoreUrl url = StoreUrl.parse(RedisServer.shared().url());
    usage =
        new RedisUsageStore(
            UsageTime.link(vertx, url, script), script, time, new SimpleMeterRegistry());
    StoreDriver.await(usage.start());
    for (int i = 0; i < NODES; i++) {
      processes.add(new Life());
      restart(processes.get(i));
    }
    for (int i = 0; i < READERS; i++) {
      readers.add(reader());
    }
    moves.forEach(this::make);
    finish();
    assertThat(sum()).isEqualTo(counted);
    assertThat(read)
        .filteredOn(record -> record.state() == UsageRecord.State.SEALED)
        .extracting(record -> record.key() + " " + record.windowStartMillis())
        .doesNotHaveDuplicates();
    readers.forEach(reader -> StoreDriver.await(reader.close()));
    StoreDriver.await(usage.close());
    redisTime.close();
  }

  private UsageReader reader() {
    UsageReader reader =
        new GroupUsageReader(
            vertx,
            UsageTime.link(vertx, StoreUrl.parse(RedisServer.shared().url()), script),
            script,
            "billing",
            "reader" + consumers++,
            true,
            LEFT_BEHIND,
            Clock.system());
    StoreDriver.await(reader.start());
    return reader;
  }

  private void make(Move move) {
    Life process = processes.get(move.who % NODES);
    int reader = move.who % READERS;
    switch (move.kind) {
      case COUNT -> count(process, move);
      case REPORT -> report(process);
      case REPORT_UNANSWERED -> bring(next(process, process.current()));
      case REPORT_UNSENT -> next(process, process.current());
      case WATERMARK -> bring(process.current().watermark(time.epochMillis()));
      case PASS -> time.advance(Duration.ofSeconds(move.amount));
      case RESTART -> restart(process);
      case LEAVE -> {
        report(process);
        bring(process.current().gone());
        restart(process);
      }
      case READ -> readAll(readers.get(reader));
      case READ_AND_DIE -> {
        UsageReader dying = readers.get(reader);
        StoreDriver.await(dying.next());
        StoreDriver.await(dying.close());
        readers.set(reader, reader());
      }
    }
  }

  private void restart(Life process) {
    process.nodes.add(new UsageNode("incarnation" + incarnations++));
  }

  private void count(Life process, Move move) {
    long start = time.epochMillis() / MINUTE * MINUTE;
    UsageCounts counts =
        new UsageCounts(move.amount, move.amount / 3, move.amount % 5, move.amount % 2, 0);
    process.current().count("key" + move.key, "gold", start, start + MINUTE, counts);
    counted = counted.plus(counts);
  }

  private UsageReceipt bring(UsageBatch batch) {
    redisTime.tell();
    return StoreDriver.await(usage.report(batch));
  }

  /** The batch that comes next: the one without an answer, unchanged, or all that is new. */
  private UsageBatch next(Life process, UsageNode node) {
    UsageBatch batch = process.unanswered.computeIfAbsent(node, UsageNode::batch);
    if (batch.reports().isEmpty()) {
      process.unanswered.remove(node);
    }
    return batch;
  }

  /** Reports all there is, of those before it first, which then are gone. */
  private void report(Life process) {
    for (UsageNode node : process.nodes) {
      while (true) {
        UsageBatch batch = next(process, node);
        node.acknowledge(batch, bring(batch));
        process.unanswered.remove(node);
        if (batch.reports().isEmpty()) {
          break;
        }
      }
    }
    while (process.nodes.size() > 1) {
      bring(process.nodes.remove(0).gone());
    }
  }

  private void readAll(UsageReader reader) {
    for (UsagePage page = StoreDriver.await(reader.next());
        !page.isEmpty();
        page = StoreDriver.await(reader.next())) {
      page.records().stream()
          .filter(record -> record.state() != UsageRecord.State.OPEN)
          .forEach(read::add);
      StoreDriver.await(reader.acknowledge(page));
    }
  }

  private void finish() {
    processes.forEach(this::report);
    for (int second = 0; second < 140; second += 5) {
      time.advance(Duration.ofSeconds(5));
      bring(processes.get(0).current().watermark(time.epochMillis()));
    }
    Optional<UsageProgress> left = Optional.empty();
    while (left.isEmpty() || left.get().openWindows() + left.get().unacknowledged() > 0) {
      readers.forEach(this::readAll);
      left = Optional.of(StoreDriver.await(readers.get(0).progress()));
    }
    readers.forEach(this::readAll);
  }

  private UsageCounts sum() {
    return read.stream().map(UsageRecord::counts).reduce(UsageCounts.NONE, UsageCounts::plus);
  }
}
