package dev.weir.config;

import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node's file and the thread that writes it. Safe to use from any thread. */
final class KeptState {

  private static final Logger LOG = LoggerFactory.getLogger(KeptState.class);
  private static final long CLOSE_SECONDS = 2;

  private final StateFile file;
  private final Clock clock;
  private final ScheduledExecutorService executor = DaemonThread.scheduled("weir-config-saver");
  private volatile Optional<StateSaver> saver = Optional.empty();

  KeptState(StateFile file, Clock clock) {
    this.file = file;
    this.clock = clock;
  }

  /** Writes {@code state} from now on, whenever {@code configuration} has changed. */
  void keep(Configuration configuration, Supplier<ConfigState> state) {
    StateSaver started = new StateSaver(file, state, clock, executor);
    saver = Optional.of(started);
    configuration.onChange(changed -> started.changed());
    started.changed();
  }

  /** Of what is on disk; 0 before the first write. */
  long savedVersion() {
    return saver.map(StateSaver::savedVersion).orElse(0L);
  }

  /** What was given to other regions, as on disk; see {@link RegionLedger#givenDigest}. */
  String savedGiven() {
    return saver.map(StateSaver::savedGiven).orElse(StateSaver.UNSAVED);
  }

  /** Writes what is not written yet, and gives the file away. Blocks. */
  void close() {
    try {
      executor
          .submit(() -> saver.ifPresent(StateSaver::close))
          .get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("the configuration may not be on disk: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      executor.shutdownNow();
      file.close();
    }
  }
}
