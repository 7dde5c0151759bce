package dev.weir.lease;

/** Where refills are handed in. Safe to use from any thread; never blocks. */
@FunctionalInterface
public interface Refills {

  /**
   * Hands in a refill. Its deadline runs from {@code wantedAtMicros} on the process's clock, so
   * time spent in queues counts.
   */
  void submit(Refill refill, long wantedAtMicros, Listener listener);

  /**
   * Hears what comes of one refill. Called on the lease verticle's context, or by the submitter.
   */
  interface Listener {

    /** The refill is through; called exactly once, possibly after {@link #onOverdue}. */
    void onOutcome(RefillOutcome outcome);

    /** The deadline has passed and the outcome is still open; called at most once. */
    void onOverdue();
  }
}
