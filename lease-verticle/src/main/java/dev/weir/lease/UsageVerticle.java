package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the {@link UsageReporter} to a thread and to the store of usage. Deploy one instance, on
 * a worker, since the journal is on a disk.
 *
 * <p>When it is undeployed it reports what is left, within {@value #STOP_MILLIS} ms, and closes the
 * journal; nothing is counted any more by then. What the store did not take stays in the journal
 * for the next process.
 */
public final class UsageVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(UsageVerticle.class);

  static final long STOP_MILLIS = 3_000;

  /** After a fault of ours, lest it fills the log. */
  private static final long FAULT_MILLIS = 2_000;

  private final UsageJournal journal;
  private final UsageStore store;
  private final UsageReporter reporter;
  private final UsageReportMeters meters;
  private final Promise<Boolean> ended = Promise.promise();
  private OptionalLong timer = OptionalLong.empty();
  private boolean calling;
  private boolean ending;
  private boolean stopped;
  private boolean full;
  private boolean lost;

  /**
   * @param node names this node to people
   */
  public UsageVerticle(
      UsageJournal journal,
      UsageStore store,
      Supplier<String> node,
      Clock clock,
      StoreClock storeClock,
      MeterRegistry registry) {
    this.journal = journal;
    this.store = store;
    this.reporter =
        new UsageReporter(
            journal.own(),
            journal.adopted(),
            node,
            clock,
            storeClock,
            RandomGenerator.getDefault());
    this.meters = new UsageReportMeters(registry, reporter);
    journal.bindTo(registry);
  }

  @Override
  public Future<?> start() {
    if (reporter.adopted() > 0) {
      LOG.info("usage: reporting what {} processes have left as well", reporter.adopted());
    }
    turn();
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    ending = true;
    reporter.end();
    turn();
    long deadline = vertx.setTimer(STOP_MILLIS, id -> ended.tryComplete(false));
    return ended
        .future()
        .onSuccess(
            all -> {
              vertx.cancelTimer(deadline);
              stopped = true;
              if (!all) {
                LOG.warn(
                    "usage: not all is reported; it stays in the journal until a node starts with"
                        + " the same data_dir");
              }
              journal.close();
            });
  }

  /** Brings the next batch to the store, now or when it is due. */
  private void turn() {
    if (calling || stopped) {
      return;
    }
    timer.ifPresent(vertx::cancelTimer);
    timer = OptionalLong.empty();
    if (ending && reporter.ended()) {
      ended.tryComplete(true);
      return;
    }
    long wait = reporter.waitMicros();
    if (wait > 0) {
      turnIn((wait + 999) / 1000);
      return;
    }
    try {
      reporter.next().ifPresentOrElse(this::bring, () -> turnIn(1));
    } catch (RuntimeException | Error e) {
      fault(e);
    }
  }

  private void turnIn(long millis) {
    timer = OptionalLong.of(vertx.setTimer(millis, id -> turn()));
  }

  private void bring(UsageBatch batch) {
    calling = true;
    store
        .report(batch)
        .onComplete(outcome -> context.runOnContext(here -> brought(batch, outcome)));
  }

  private void brought(UsageBatch batch, AsyncResult<UsageReceipt> outcome) {
    calling = false;
    if (stopped) {
      return;
    }
    try {
      if (outcome.succeeded()) {
        answered(batch, outcome.result());
      } else {
        meters.failed();
        reporter.unanswered(outcome.cause() instanceof StoreAwayException away && away.unsent());
      }
    } catch (RuntimeException | Error e) {
      fault(e);
      return;
    }
    turn();
  }

  private void answered(UsageBatch batch, UsageReceipt receipt) {
    boolean taken = reporter.answered(receipt);
    if (receipt.lost() && !lost) {
      meters.lost();
      LOG.error(
          "usage: the store has lost what was reported; all that is not sealed is reported again");
    }
    lost = receipt.lost();
    if (!taken) {
      meters.full();
      if (!full) {
        LOG.error(
            "usage: the stream is full, since a group of readers does not acknowledge; reports"
                + " wait in the journal");
      }
      full = true;
    } else if (!batch.reports().isEmpty()) {
      meters.counted();
      if (full) {
        LOG.info("usage: the stream takes reports again");
      }
      full = false;
    }
  }

  /** A mapped page that the disk does not give back is an {@link InternalError}. */
  private void fault(Throwable e) {
    turnIn(FAULT_MILLIS);
    LOG.error("usage: reporting failed; trying again", e);
  }
}
