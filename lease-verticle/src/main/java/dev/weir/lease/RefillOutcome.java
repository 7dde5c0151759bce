package dev.weir.lease;

import java.util.List;

/** What came of a refill. */
public sealed interface RefillOutcome {

  /**
   * The store carried the step out.
   *
   * @param storeMicros the store's time of the step, microseconds of its epoch
   * @param levels one per take, in order
   */
  record Answered(long storeMicros, List<Level> levels) implements RefillOutcome {
    public Answered {
      levels = List.copyOf(levels);
    }
  }

  /**
   * A limit after the step.
   *
   * @param granted permits leased to the node: {@code need} to {@code ask}, or 0 if any take of the
   *     refill did not fit
   * @param used the level, permits, leased ones included; fractional, since it leaks continuously
   * @param authorized units leased out of this limit in the accounting window of the step
   */
  record Level(long granted, double used, long authorized) {}

  /**
   * The store did not answer.
   *
   * @param reason in one line, for the log
   * @param unsent whether it is certain that the step was not carried out; otherwise it may have
   *     been, and must not be repeated
   */
  record Unavailable(String reason, boolean unsent) implements RefillOutcome {}
}
