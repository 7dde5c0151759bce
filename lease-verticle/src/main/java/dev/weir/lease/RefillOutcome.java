package dev.weir.lease;

import dev.weir.config.Consumption;
import java.util.List;
import java.util.Optional;

/** What came of a refill. */
public sealed interface RefillOutcome {

  /**
   * The store carried the step out.
   *
   * @param storeMicros the store's time of the step, microseconds of its epoch
   * @param levels one per take, in order
   * @param epoch of the store; another number than before tells that it may have lost data in
   *     between
   */
  record Answered(long storeMicros, List<Level> levels, long epoch) implements RefillOutcome {
    public Answered {
      levels = List.copyOf(levels);
    }

    /** By a store that loses nothing. */
    public Answered(long storeMicros, List<Level> levels) {
      this(storeMicros, levels, StoreEpochs.NONE);
    }
  }

  /**
   * A limit after the step.
   *
   * @param granted permits leased to the node: {@code need} to {@code ask}, or 0 if any take of the
   *     refill did not fit
   * @param consumption what is counted, leased permits included
   * @param authorized units leased out of this limit in the accounting window of the step
   * @param reserved whether some of it is reserved, and may go back at any time
   */
  record Level(long granted, Consumption consumption, long authorized, boolean reserved) {

    /** Of a limit without reservations. */
    public Level(long granted, Consumption consumption, long authorized) {
      this(granted, consumption, authorized, false);
    }

    /** Of a token bucket. */
    public Level(long granted, double used, long authorized) {
      this(granted, Consumption.ofBucket(used), authorized);
    }

    /** The consumption's main number, permits. */
    public double used() {
      return consumption.used();
    }
  }

  /**
   * The step was made before, by the same {@link Purpose.Once}; nothing was moved.
   *
   * @param first what came of it then
   * @param reservation the id of what was reserved then, if anything was
   */
  record Repeated(Answered first, Optional<String> reservation) implements RefillOutcome {}

  /** Another step was made by the same {@link Purpose.Once}; nothing was moved. */
  record UsedOtherwise() implements RefillOutcome {}

  /**
   * What came of a {@link Purpose.Settle}.
   *
   * @param verdict of the store
   * @param reserved permits that the reservation was of; 0 if it is unknown
   */
  record Settled(Verdict verdict, long reserved) implements RefillOutcome {}

  /** What became of a reservation. */
  enum Verdict {
    /** It is settled now. */
    SETTLED,
    /** It was settled before; nothing was moved. */
    BEFORE,
    /** Its time is over, or there never was one; nothing was moved. */
    UNKNOWN,
    /** More should be spent than is reserved; nothing was moved. */
    TOO_MUCH
  }

  /**
   * The store did not answer.
   *
   * @param reason in one line, for the log
   * @param unsent whether it is certain that the step was not carried out; otherwise it may have
   *     been, and must not be repeated
   */
  record Unavailable(String reason, boolean unsent) implements RefillOutcome {}
}
