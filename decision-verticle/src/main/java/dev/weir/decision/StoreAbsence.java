package dev.weir.decision;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this node has to decide without its store, of some keys at least; told in the log when it
 * begins and when it ends. It ends when the store has answered and has failed nothing for a while,
 * lest a store of which a part is away be told of with every call. Safe to use from any thread.
 */
final class StoreAbsence {

  static final long QUIET_MICROS = 2_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(StoreAbsence.class);

  private final LongSupplier decidedWithout;
  private volatile boolean lasting;
  private long failedMicros;
  private boolean answered;
  private long decidedBefore;

  /**
   * @param decidedWithout decisions made without the store so far
   */
  StoreAbsence(LongSupplier decidedWithout) {
    this.decidedWithout = decidedWithout;
  }

  boolean lasting() {
    return lasting;
  }

  /** The store has left something without an answer. */
  synchronized void failed(String reason, long nowMicros) {
    failedMicros = nowMicros;
    answered = false;
    if (!lasting) {
      decidedBefore = decidedWithout.getAsLong();
      lasting = true;
      LOG.warn("deciding without the store: {}", reason);
    }
  }

  /** The store has answered. */
  void answered(long nowMicros) {
    if (lasting) {
      look(true, nowMicros);
    }
  }

  /**
   * To be called now and then, since the end takes time to be seen, and traffic may have ceased.
   */
  void look(long nowMicros) {
    if (lasting) {
      look(false, nowMicros);
    }
  }

  private synchronized void look(boolean heard, long nowMicros) {
    answered |= heard;
    if (lasting && answered && nowMicros - failedMicros >= QUIET_MICROS) {
      lasting = false;
      LOG.info(
          "the store answers again; {} requests were decided without it",
          decidedWithout.getAsLong() - decidedBefore);
    }
  }
}
