package dev.weir.config;

import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the configuration to disk when it has changed. Changes gather for a moment, and the longer
 * a write takes (hundreds of thousands of keys), the longer for the next, so that writing never
 * takes more than a small part of a processor. A write that fails is tried again.
 *
 * <p>All but {@link #changed} and what tells of the disk is done by the thread of the executor.
 */
final class StateSaver {

  private static final Logger LOG = LoggerFactory.getLogger(StateSaver.class);

  /** In place of a digest where nothing is on disk; it is that of nothing that can be given. */
  static final String UNSAVED = "unsaved";

  private static final long LEAST_GAP_MICROS = 200_000;
  private static final long MOST_GAP_MICROS = 5_000_000;
  private static final long RETRY_MICROS = 2_000_000;

  /** Between two writes is as many times as long as the first of them took. */
  private static final int IDLE_PARTS = 20;

  private final StateFile file;
  private final Supplier<ConfigState> state;
  private final Clock clock;
  private final ScheduledExecutorService executor;

  private final Object lock = new Object();
  private boolean scheduled;
  private boolean closed;

  /** Before which nothing is written. */
  private long notBeforeMicros;

  private boolean failing;
  private volatile long savedVersion;
  private volatile String savedGiven = UNSAVED;

  /**
   * @param state to be written
   * @param executor has one thread
   */
  StateSaver(
      StateFile file, Supplier<ConfigState> state, Clock clock, ScheduledExecutorService executor) {
    this.notBeforeMicros = clock.micros();
    this.file = file;
    this.state = state;
    this.clock = clock;
    this.executor = executor;
  }

  /** Has what there is by then be written in a moment. Any thread. */
  void changed() {
    synchronized (lock) {
      if (!scheduled && !closed) {
        scheduled = true;
        long delayMicros = Math.max(LEAST_GAP_MICROS, notBeforeMicros - clock.micros());
        try {
          ScheduledFuture<?> unused =
              executor.schedule(this::run, delayMicros, TimeUnit.MICROSECONDS);
        } catch (RejectedExecutionException e) {
          LOG.debug("the configuration is not written any more: this node is leaving");
        }
      }
    }
  }

  /** Of what is on disk; 0 before the first write. */
  long savedVersion() {
    return savedVersion;
  }

  /** What was given to other regions, as on disk; {@link #UNSAVED} before the first write. */
  String savedGiven() {
    return savedGiven;
  }

  private void run() {
    synchronized (lock) {
      scheduled = false;
    }
    write();
  }

  private void write() {
    ConfigState now = state.get();
    long startMicros = clock.micros();
    try {
      file.write(now);
      savedVersion = now.version();
      savedGiven = now.document().regions().ledger().givenDigest();
      long endMicros = clock.micros();
      rest(endMicros, Math.min(MOST_GAP_MICROS, IDLE_PARTS * (endMicros - startMicros)));
      if (failing) {
        LOG.info("configuration version {} is on disk again", now.version());
      }
      failing = false;
    } catch (IOException | RuntimeException e) {
      // Whatever it is: a thread that stops would leave what comes next unwritten as well.
      if (!failing) {
        LOG.warn(
            "configuration version {} cannot be written, trying again until it can: {}",
            now.version(),
            e.toString());
      }
      failing = true;
      rest(clock.micros(), RETRY_MICROS);
      changed();
    }
  }

  private void rest(long nowMicros, long micros) {
    synchronized (lock) {
      notBeforeMicros = nowMicros + micros;
    }
  }

  /** Writes what is not written yet, and writes no more. Blocks; by the thread of the executor. */
  void close() {
    boolean unwritten;
    synchronized (lock) {
      closed = true;
      unwritten = scheduled;
    }
    if (unwritten) {
      write();
    }
  }
}
