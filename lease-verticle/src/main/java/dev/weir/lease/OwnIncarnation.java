package dev.weir.lease;

import dev.weir.config.Clock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process counts, in segments on the disk. Where none is ready, because the disk is full
 * or slow, memory serves, as long as there is some to spare; beyond that units are lost, and the
 * operator is told. Tallies may be opened from any thread; all else is for one thread.
 *
 * <p>A segment that is not needed any more is dropped by a call of {@link #trim} and deleted by one
 * that comes {@value #DROPPED_MICROS} microseconds later, long after the last thread that was about
 * to count in it has found that it cannot.
 */
final class OwnIncarnation implements JournaledIncarnation {

  private static final Logger LOG = LoggerFactory.getLogger(OwnIncarnation.class);

  /** Segments in memory, at most. */
  static final int MOST_IN_MEMORY = 64;

  /** Between the last use of a segment and its end. */
  static final long DROPPED_MICROS = 10_000_000;

  /** What nobody needs, since {@code atMicros} of the clock that never steps. */
  private record Dropped(JournalSegment segment, long atMicros) {}

  /** Where counts went that should be on the disk. */
  private enum Refuge {
    NONE,
    MEMORY,
    NOWHERE
  }

  private final String name;
  private final SegmentSupply supply;
  private final Runnable remover;
  private final Clock clock;
  private final AtomicInteger numbers = new AtomicInteger();
  private final Queue<JournalSegment> segments = new ConcurrentLinkedQueue<>();
  private final Queue<Dropped> dropped = new ArrayDeque<>();
  private final AtomicInteger inMemory = new AtomicInteger();
  private final LongAdder lost = new LongAdder();

  private JournalSegment filling = JournalSegment.none();

  /** The worst that the log has told of since all was well. */
  private Refuge refuge = Refuge.NONE;

  private long lostUntilTrim;
  private boolean closed;

  /**
   * One that has taken what it needs of the disk, as far as there is room.
   *
   * @param remover deletes what is left when all segments are gone
   */
  OwnIncarnation(String name, SegmentSupply.Maker maker, Runnable remover, Clock clock) {
    this.name = name;
    this.clock = clock;
    this.remover = remover;
    this.supply = new SegmentSupply(maker, numbers::incrementAndGet);
  }

  @Override
  public String name() {
    return name;
  }

  /** Opens a tally. It counts in vain, and says so in a metric, where there is no room for it. */
  synchronized Tally append(String key, String plan, long startMillis, long endMillis) {
    if (closed) {
      return lostTally();
    }
    leaveMemory();
    Optional<Tally> tally = filling.append(key, plan, startMillis, endMillis);
    if (tally.isPresent()) {
      return tally.get();
    }
    Optional<JournalSegment> next = supply.poll().or(this::memory);
    if (next.isEmpty()) {
      flee(Refuge.NOWHERE);
      return lostTally();
    }
    filling = next.get();
    segments.add(filling);
    // A segment has room for any key there can be.
    return filling.append(key, plan, startMillis, endMillis).orElseThrow();
  }

  private Tally lostTally() {
    return new Tally(new LostSheet(lost), 0);
  }

  /** What is in memory goes with the process, and it may be long until it is full. */
  private void leaveMemory() {
    if (!filling.onDisk() && !supply.isEmpty()) {
      filling.end();
    }
  }

  private Optional<JournalSegment> memory() {
    if (inMemory.get() >= MOST_IN_MEMORY) {
      return Optional.empty();
    }
    Optional<JournalSegment> segment = JournalSegment.inMemory(numbers.incrementAndGet());
    if (segment.isPresent()) {
      inMemory.incrementAndGet();
      flee(Refuge.MEMORY);
    }
    return segment;
  }

  private void flee(Refuge to) {
    if (to.compareTo(refuge) > 0) {
      refuge = to;
      if (to == Refuge.MEMORY) {
        LOG.error(
            "usage: the disk is full or slow; counted in memory, which goes with the process");
      } else {
        LOG.error("usage: units are lost, since neither the disk nor memory has room for them");
      }
    }
  }

  /** Tells that all is well again, once nothing is in memory and nothing was lost of late. */
  private synchronized void settle() {
    leaveMemory();
    long lostByNow = lost.sum();
    if (refuge != Refuge.NONE && inMemory.get() == 0 && lostByNow == lostUntilTrim) {
      refuge = Refuge.NONE;
      LOG.info("usage: all that is counted is on the disk again; {} units are lost", lostByNow);
    }
    lostUntilTrim = lostByNow;
  }

  @Override
  public Stream<JournalEntry> entries() {
    return segments.stream().flatMap(JournalSegment::entries);
  }

  @Override
  public void trim() {
    deleteDropped();
    List<JournalSegment> spent = segments.stream().filter(JournalSegment::spent).toList();
    segments.removeAll(spent);
    spent.forEach(this::drop);
    settle();
    supply.refill();
  }

  private void drop(JournalSegment segment) {
    segment.drop();
    if (segment.onDisk()) {
      dropped.add(new Dropped(segment, clock.micros()));
    } else {
      inMemory.decrementAndGet();
    }
  }

  private void deleteDropped() {
    long until = clock.micros() - DROPPED_MICROS;
    while (!dropped.isEmpty() && dropped.element().atMicros <= until) {
      dropped.remove().segment.delete();
    }
  }

  @Override
  public synchronized void remove() {
    segments.forEach(JournalSegment::end);
    entries().forEach(this::lose);
    segments.forEach(this::drop);
    segments.clear();
    close();
    remover.run();
  }

  /** What was opened or counted since the last look at it is told of, if only as lost. */
  private void lose(JournalEntry entry) {
    entry.close();
    lost.add(entry.counted().spent() - entry.acknowledged().spent());
  }

  /** Counts nothing more, and lets go of what is not reported, which stays on the disk. */
  synchronized void close() {
    closed = true;
    supply.close(JournalSegment::unlink);
    dropped.forEach(unneeded -> unneeded.segment.unlink());
    dropped.clear();
    // They may be another process's soon.
    segments.forEach(JournalSegment::drop);
    segments.clear();
    inMemory.set(0);
  }

  long memoryBytes() {
    return (long) inMemory.get() * JournalSegment.SIZE;
  }

  long lostUnits() {
    return lost.sum();
  }
}
