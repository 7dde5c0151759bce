package dev.weir.node;

import dev.weir.config.Clock;
import dev.weir.lease.StoreAwayException;
import dev.weir.lease.UsagePage;
import dev.weir.lease.UsageProgress;
import dev.weir.lease.UsageReader;
import dev.weir.lease.UsageRecord;
import io.vertx.core.Future;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Prints records until there are no more: prints a page, flushes it, and acknowledges it then. So a
 * record is printed again only if the process ends between the two.
 *
 * <p>Runs on one thread, which it blocks; a signal makes it end behind the page that it is at.
 */
final class UsagePrinting {

  /** When it ends. */
  enum Mode {
    ONCE,
    UNTIL_IDLE,
    FOLLOW
  }

  private static final long PAUSE_MILLIS = 500;
  private static final long ANSWER_SECONDS = 30;
  private static final long STOP_SECONDS = 5;

  /** How long a store may be away that was there, unless it is followed. */
  private static final long PATIENCE_MICROS = 15_000_000;

  /** Within which a node that has just started to count has reported. */
  private static final long FIRST_REPORT_MILLIS = 5_000;

  private final UsageReader reader;
  private final UsageFormat format;
  private final UsageFilter filter;
  private final Mode mode;
  private final boolean includeOpen;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Clock clock;
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private long beganMillis = Long.MAX_VALUE;

  /** Standard output takes no more. */
  private static final class OutputClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  UsagePrinting(
      UsageReader reader,
      UsageFormat format,
      UsageFilter filter,
      Mode mode,
      boolean includeOpen,
      Surroundings surroundings,
      Clock clock) {
    this.reader = reader;
    this.format = format;
    this.filter = filter;
    this.mode = mode;
    this.includeOpen = includeOpen;
    this.out = surroundings.out();
    this.err = surroundings.err();
    this.clock = clock;
  }

  /** Gives the exit code. */
  int run() throws InterruptedException {
    Thread hook = new Thread(this::stop, "weir-usage-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return print();
    } finally {
      stopped.countDown();
      removeHook(hook);
    }
  }

  /**
   * Runs as a shutdown hook. It halts the JVM itself, since one that ends by a signal would
   * otherwise say that it failed.
   */
  private void stop() {
    stopping.countDown();
    try {
      boolean inOrder = stopped.await(STOP_SECONDS, TimeUnit.SECONDS);
      Runtime.getRuntime().halt(inOrder ? ExitCode.OK : ExitCode.FAILED);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running, which is why this ends.
    }
  }

  private int print() throws InterruptedException {
    try {
      try {
        await(reader.start());
      } catch (StoreAwayException e) {
        if (mode != Mode.FOLLOW) {
          throw e;
        }
        err.println("weir: " + reason(e) + "; waiting for it");
      }
      write(format.head());
      printAll();
      return ExitCode.OK;
    } catch (StoreAwayException e) {
      err.println("weir: " + reason(e));
      return ExitCode.FAILED;
    } catch (OutputClosedException e) {
      err.println("weir: standard output is closed; what it did not take is not acknowledged");
      return ExitCode.FAILED;
    } finally {
      close();
    }
  }

  private void close() throws InterruptedException {
    try {
      await(reader.close());
    } catch (StoreAwayException e) {
      // Whoever reads next finds what was not acknowledged.
    }
  }

  private static String reason(StoreAwayException away) {
    return "store.url: the store does not answer: " + Quoted.printable(away.getMessage());
  }

  private void printAll() throws InterruptedException {
    long open = Long.MAX_VALUE;
    boolean more = true;
    while (more && !isStopping(0)) {
      UsageProgress progress = patiently(reader::progress);
      beganMillis = Math.min(beganMillis, progress.nowMillis());
      boolean printed = printPages();
      // Windows are sealed some at a time.
      boolean sealing = progress.openWindows() < open;
      open = progress.openWindows();
      more =
          (sealing && open > 0)
              || mode == Mode.FOLLOW
              || (mode == Mode.UNTIL_IDLE && (printed || !isIdle(progress)));
      if (more && !sealing) {
        isStopping(PAUSE_MILLIS);
      }
    }
  }

  /**
   * Whether nothing is left: no window is open, none can have been counted in that the store has
   * not heard of, and no other reader has records that it may yet leave to this one.
   */
  private boolean isIdle(UsageProgress progress) {
    return progress.openWindows() == 0
        && progress.unacknowledged() == 0
        && progress.watermarkMillis() > beganMillis
        && progress.nowMillis() - beganMillis >= FIRST_REPORT_MILLIS;
  }

  private boolean printPages() throws InterruptedException {
    boolean printed = false;
    while (!isStopping(0)) {
      UsagePage page = patiently(reader::next);
      if (page.isEmpty()) {
        return printed;
      }
      print(page);
      patiently(() -> reader.acknowledge(page));
      printed = true;
    }
    return printed;
  }

  private void print(UsagePage page) {
    StringBuilder lines = new StringBuilder();
    for (UsageRecord record : page.records()) {
      if (filter.matches(record) && (includeOpen || record.state() != UsageRecord.State.OPEN)) {
        lines.append(format.line(record)).append('\n');
      }
    }
    write(lines.toString());
  }

  private void write(String text) {
    out.print(text);
    // Which flushes it first, and is the only way to learn of a failure.
    if (out.checkError()) {
      throw new OutputClosedException();
    }
  }

  /** Asks again while the store is away, for as long as that is worth it. */
  private <T> T patiently(Supplier<Future<T>> question) throws InterruptedException {
    long since = clock.micros();
    while (true) {
      try {
        return await(question.get());
      } catch (StoreAwayException e) {
        boolean patient = mode == Mode.FOLLOW || clock.micros() - since < PATIENCE_MICROS;
        if (!patient || isStopping(PAUSE_MILLIS)) {
          throw e;
        }
      }
    }
  }

  private boolean isStopping(long waitMillis) throws InterruptedException {
    return stopping.await(waitMillis, TimeUnit.MILLISECONDS);
  }

  private static <T> T await(Future<T> future) throws InterruptedException {
    try {
      return future.toCompletionStage().toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new StoreAwayException("no answer within " + ANSWER_SECONDS + " s", false);
    }
  }
}
