package dev.weir.lease;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empty segments on the disk, made ahead of need on a thread of their own, so that whoever needs
 * one never waits for the disk. Safe to use from any thread.
 */
final class SegmentSupply {

  private static final Logger LOG = LoggerFactory.getLogger(SegmentSupply.class);

  /**
   * Segments ready to be used: room for some 75,000 keys. One is made in less than a millisecond,
   * so that the supply ends only where the disk keeps its thread waiting.
   */
  static final int READY = 16;

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

  private final Maker maker;
  private final IntSupplier numbers;
  private final BlockingQueue<JournalSegment> ready = new ArrayBlockingQueue<>(READY);
  private final AtomicBoolean making = new AtomicBoolean();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread thread = new Thread(work, "weir-usage-journal");
            thread.setDaemon(true);
            return thread;
          });

  private volatile boolean troubled;
  private boolean closed;

  /**
   * One that is full, as far as the disk has room.
   *
   * @param numbers a new one for each segment
   */
  SegmentSupply(Maker maker, IntSupplier numbers) {
    this.maker = maker;
    this.numbers = numbers;
    make();
  }

  boolean isEmpty() {
    return ready.isEmpty();
  }

  /** One to fill; empty if none is ready. */
  Optional<JournalSegment> poll() {
    Optional<JournalSegment> next = Optional.ofNullable(ready.poll());
    refill();
    return next;
  }

  /** Makes what is missing; to be called now and then, for the disk may have room again. */
  synchronized void refill() {
    if (!closed && ready.remainingCapacity() > 0 && !making.getAndSet(true)) {
      executor.execute(
          () -> {
            // Before the last look at what is missing, lest nobody makes what is then taken.
            making.set(false);
            make();
          });
    }
  }

  /** Run by one thread at a time. */
  private void make() {
    try {
      while (ready.remainingCapacity() > 0) {
        ready.add(maker.make(numbers.getAsInt()));
      }
      if (troubled) {
        troubled = false;
        LOG.info("usage: the disk has room again");
      }
    } catch (IOException e) {
      if (!troubled) {
        troubled = true;
        LOG.error("usage: no room on the disk: {}; trying again", JournalFiles.reason(e));
      }
    }
  }

  /** Makes no further segment, and hands out those that nobody will fill. */
  void close(Consumer<JournalSegment> unused) {
    synchronized (this) {
      closed = true;
    }
    executor.shutdown();
    try {
      if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("usage: the disk does not answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (JournalSegment next = ready.poll(); next != null; next = ready.poll()) {
      unused.accept(next);
    }
  }
}
