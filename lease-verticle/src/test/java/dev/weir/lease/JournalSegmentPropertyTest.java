package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * However a segment was filled, and wherever it is cut or damaged: what can be read was counted,
 * and what is missing is told.
 */
class JournalSegmentPropertyTest {

  private static final long MINUTE = 60_000;
  private static final int MOST_LIVES = 4;

  enum Kind {
    SPEND,
    DEGRADE,
    DENY,
    WOULD_DENY,
    AUTHORIZE,
    SEND,
    ACKNOWLEDGE,
    CLOSE,
    RELEASE
  }

  record Step(Kind kind, long units) {}

  record Life(String key, String plan, List<Step> steps) {}

  @Provide
  Arbitrary<List<Life>> lives() {
    Arbitrary<Step> steps =
        Combinators.combine(
                Arbitraries.of(Kind.class),
                Arbitraries.oneOf(
                    Arbitraries.longs().between(0, 100),
                    Arbitraries.longs().between(0, 1_000_000_000_000L)))
            .as(Step::new);
    return Combinators.combine(
            Arbitraries.strings().ofMaxLength(12),
            Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(8),
            steps.list().ofMaxSize(8))
        .as(Life::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(MOST_LIVES);
  }

  /** What an entry held in the end, and the byte behind it. */
  private record Written(String key, UsageCounts counted, boolean released, int end) {}

  /** A segment that was filled, by the entries' ids. */
  private static final class Filled {
    private final Map<Long, Written> entries = new TreeMap<>();
    private final byte[] bytes;

    Filled(List<Life> lives) throws IOException {
      Path path = Files.createTempFile("weir", ".usage");
      try {
        DiskAllowance disk = new DiskAllowance(JournalSegment.SIZE);
        JournalSegment segment = JournalSegment.create(1, new SegmentFile(path, disk));
        lives.forEach(life -> live(segment, life));
        bytes = Files.readAllBytes(path);
      } finally {
        Files.delete(path);
      }
    }

    private void live(JournalSegment segment, Life life) {
      Tally tally = segment.append(life.key, life.plan, 0, MINUTE).orElseThrow();
      List<JournalEntry> all = new ArrayList<>();
      segment.entries().forEach(all::add);
      JournalEntry entry = all.get(all.size() - 1);
      boolean released = false;
      for (Step step : life.steps) {
        switch (step.kind) {
          case SPEND -> tally.spend(step.units);
          case DEGRADE -> tally.degrade(step.units);
          case DENY -> tally.deny(step.units);
          case WOULD_DENY -> tally.wouldDeny(step.units);
          case AUTHORIZE -> tally.authorized(step.units);
          case SEND -> entry.sending(1 + step.units, entry.counted());
          case ACKNOWLEDGE -> entry.acknowledge();
          case CLOSE -> entry.close();
          case RELEASE -> {
            entry.release();
            released = true;
          }
        }
      }
      int end =
          (int) entry.id()
              + JournalLayout.lengthOf(
                  life.key.getBytes(StandardCharsets.UTF_8),
                  life.plan.getBytes(StandardCharsets.UTF_8));
      // As it is written: a surrogate by itself is not.
      entries.put(entry.id(), new Written(entry.key(), entry.counted(), released, end));
    }

    int end() {
      return entries.values().stream().mapToInt(Written::end).max().orElseThrow();
    }
  }

  /** All bytes before {@code end} but for those of counters that no entry is given. */
  private static int[] places(int end) {
    int counters = JournalLayout.spentAt(MOST_LIVES) + Long.BYTES;
    return IntStream.concat(
            IntStream.range(0, counters), IntStream.range(JournalLayout.HEADER - 1, end))
        .toArray();
  }

  private static Map<Long, JournalEntry> recover(byte[] bytes, List<String> losses) {
    Map<Long, JournalEntry> found = new TreeMap<>();
    JournalSegment.recover(1, ByteBuffer.wrap(bytes), losses::add)
        .entries()
        .forEach(entry -> found.put(entry.id(), entry));
    return found;
  }

  @Property(tries = 30)
  void aSegmentCutAtAnyByteKeepsAllThatIsWhollyBeforeTheCut(@ForAll("lives") List<Life> lives)
      throws IOException {
    Filled filled = new Filled(lives);
    for (int cut : places(filled.end() + Long.BYTES + 1)) {
      List<String> losses = new ArrayList<>();
      Map<Long, JournalEntry> found = recover(Arrays.copyOf(filled.bytes, cut), losses);
      for (Map.Entry<Long, Written> each : filled.entries.entrySet()) {
        Written written = each.getValue();
        JournalEntry entry = found.remove(each.getKey());
        if (written.end > cut || written.released) {
          assertThat(entry).as("cut at %d", cut).isNull();
        } else {
          assertThat(entry.key()).isEqualTo(written.key);
          assertThat(entry.counted()).as("cut at %d", cut).isEqualTo(written.counted);
        }
      }
      assertThat(found).as("cut at %d", cut).isEmpty();
      assertThat(losses).as("cut at %d", cut).isNotEmpty();
    }
  }

  @Property(tries = 30)
  void noBitThatIsFalseMakesUpAUnitOrHidesOne(@ForAll("lives") List<Life> lives, @ForAll byte bits)
      throws IOException {
    Filled filled = new Filled(lives);
    byte[] bytes = Arrays.copyOf(filled.bytes, JournalLayout.HEADER + JournalSegment.SIZE / 64);
    for (int at : places(filled.end())) {
      byte[] damaged = bytes.clone();
      damaged[at] ^= (byte) (1 << ((at + bits) & 7));
      List<String> losses = new ArrayList<>();
      Map<Long, JournalEntry> found = recover(damaged, losses);
      // It is short, and says so.
      boolean told = losses.size() > 1;
      for (Map.Entry<Long, Written> each : filled.entries.entrySet()) {
        Written written = each.getValue();
        JournalEntry entry = found.remove(each.getKey());
        if (entry == null) {
          assertThat(told || written.released).as("byte %d", at).isTrue();
        } else {
          assertThat(entry.key()).isEqualTo(written.key);
          UsageCounts missing = written.counted.since(entry.counted());
          assertThat(entry.counted().plus(missing)).as("byte %d", at).isEqualTo(written.counted);
          assertThat(told || entry.counted().equals(written.counted)).as("byte %d", at).isTrue();
        }
      }
      assertThat(found).as("byte %d", at).isEmpty();
    }
  }

  @Property(tries = 200)
  void whateverIsFoundInAFileIsReadWithoutAFault(
      @ForAll byte[] noise, @ForAll("lives") List<Life> lives) throws IOException {
    byte[] bytes = Arrays.copyOf(new Filled(lives).bytes, JournalLayout.HEADER + 1_000);
    int from = noise.length % 3 == 0 ? 0 : JournalLayout.HEADER;
    System.arraycopy(noise, 0, bytes, from + noise.length % 500, Math.min(noise.length, 500));
    recover(bytes, new ArrayList<>())
        .values()
        .forEach(entry -> assertThat(entry.counted().spent()).isNotNegative());
  }
}
