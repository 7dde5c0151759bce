package dev.weir.lease;

import java.io.IOException;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process counts. Segments are made ahead of need on a thread of their own; where none is
 * ready, because the disk is full, memory serves, as long as there is some to spare. Tallies may be
 * opened from any thread; all else is for one thread.
 */
final class OwnIncarnation implements JournaledIncarnation {

  private static final Logger LOG = LoggerFactory.getLogger(OwnIncarnation.class);

  /** Segments ready to be used; on a fast disk one is made in a millisecond. */
  private static final int AHEAD = 2;

  /** Segments in memory, at most. */
  static final int MOST_IN_MEMORY = 16;

  private static final long CLOSE_SECONDS = 2;

  /** Makes segments that outlive the process. */
  @FunctionalInterface
  interface Maker {

    /**
     * Makes an empty one.
     *
     * @throws IOException if there is no room for it
     */
    JournalSegment make(int number) throws IOException;
  }

  /** Deletes what is left when all segments are gone. */
  @FunctionalInterface
  interface Remover {

    /**
     * Deletes it.
     *
     * @throws IOException if something stays
     */
    void remove() throws IOException;
  }

  private final String name;
  private final Optional<Maker> maker;
  private final Remover remover;
  private final BlockingQueue<JournalSegment> ready = new ArrayBlockingQueue<>(AHEAD);
  private final Queue<JournalSegment> segments = new ConcurrentLinkedQueue<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicInteger inMemory = new AtomicInteger();
  private final AtomicBoolean making = new AtomicBoolean();
  private final LongAdder lost = new LongAdder();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread thread = new Thread(work, "weir-usage-journal");
            thread.setDaemon(true);
            return thread;
          });

  private JournalSegment filling;
  private volatile boolean troubled;
  private boolean removed;
  private boolean closed;

  /**
   * One with a first segment.
   *
   * @throws IOException if the disk has no room for it
   */
  OwnIncarnation(String name, Maker maker, Remover remover) throws IOException {
    this.name = name;
    this.maker = Optional.of(maker);
    this.remover = remover;
    this.filling = maker.make(numbers.incrementAndGet());
    segments.add(filling);
    makeReady();
  }

  private OwnIncarnation(String name) {
    this.name = name;
    this.maker = Optional.empty();
    this.remover = () -> {};
    this.filling = JournalSegment.none();
    troubled = true;
  }

  /** One that goes with the process. */
  static OwnIncarnation inMemory() {
    return new OwnIncarnation(JournalFiles.newName());
  }

  @Override
  public String name() {
    return name;
  }

  /** Opens a tally. It counts in vain, and says so in a metric, where there is no room for it. */
  synchronized Tally append(String key, String plan, long startMillis, long endMillis, long until) {
    if (removed) {
      return new LostTally(lost, until);
    }
    if (!filling.onDisk() && !ready.isEmpty()) {
      // What is in memory goes with the process, and it may be long until it is full.
      filling.end();
    }
    Optional<Tally> tally = filling.append(key, plan, startMillis, endMillis, until);
    if (tally.isPresent()) {
      return tally.get();
    }
    JournalSegment next = ready.poll();
    makeReady();
    if (next == null) {
      next = memory().orElse(null);
    }
    if (next == null) {
      return new LostTally(lost, until);
    }
    segments.add(next);
    filling = next;
    // A segment has room for any key there can be.
    return filling.append(key, plan, startMillis, endMillis, until).orElseThrow();
  }

  private Optional<JournalSegment> memory() {
    if (inMemory.get() >= MOST_IN_MEMORY) {
      return Optional.empty();
    }
    Optional<JournalSegment> segment = JournalSegment.inMemory(numbers.incrementAndGet());
    segment.ifPresent(made -> inMemory.incrementAndGet());
    return segment;
  }

  private synchronized void makeReady() {
    if (maker.isPresent() && !closed && ready.size() < AHEAD && !making.getAndSet(true)) {
      executor.execute(this::make);
    }
  }

  private void make() {
    try {
      while (ready.remainingCapacity() > 0) {
        ready.add(maker.orElseThrow().make(numbers.incrementAndGet()));
      }
      if (troubled) {
        troubled = false;
        LOG.info("usage: the disk has room again");
      }
    } catch (IOException e) {
      if (!troubled) {
        troubled = true;
        LOG.error("usage: the disk has no room: {}; counted in memory", JournalFiles.reason(e));
      }
    } finally {
      making.set(false);
    }
  }

  @Override
  public void forEach(Consumer<JournalEntry> action) {
    segments.forEach(segment -> segment.forEach(action));
  }

  @Override
  public void trim() {
    segments.removeIf(segment -> segment.spent() && dropped(segment));
    // The disk may have room again, though nobody has asked for a segment since.
    makeReady();
  }

  private boolean dropped(JournalSegment segment) {
    try {
      segment.drop();
    } catch (IOException e) {
      LOG.warn("usage: cannot delete what is reported: {}", JournalFiles.reason(e));
    }
    if (!segment.onDisk()) {
      inMemory.decrementAndGet();
    }
    return true;
  }

  @Override
  public synchronized void remove() {
    removed = true;
    close();
    segments.forEach(JournalSegment::end);
    forEach(this::lose);
    segments.forEach(this::dropped);
    segments.clear();
    ready.forEach(this::dropped);
    ready.clear();
    try {
      remover.remove();
    } catch (IOException e) {
      LOG.warn("usage: cannot delete what is reported: {}", JournalFiles.reason(e));
    }
  }

  /** What was opened or counted since the last look at it is told of, if only as lost. */
  private void lose(JournalEntry entry) {
    entry.close();
    lost.add(entry.counted().spent() - entry.acknowledged().spent());
  }

  /** Makes no further segment. */
  synchronized void close() {
    closed = true;
    executor.shutdown();
    try {
      if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("usage: the disk does not answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Of segments with entries. */
  long diskBytes() {
    return segments.stream().filter(JournalSegment::onDisk).mapToLong(JournalSegment::size).sum();
  }

  long memoryBytes() {
    return (long) inMemory.get() * JournalSegment.SIZE;
  }

  long lostUnits() {
    return lost.sum();
  }
}
