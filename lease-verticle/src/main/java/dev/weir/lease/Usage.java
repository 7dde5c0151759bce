package dev.weir.lease;

/** Where decisions are counted. Safe to use from any thread. */
@FunctionalInterface
public interface Usage {

  /**
   * The tally of {@code key} under {@code plan} in the accounting window that a moment of the store
   * falls into. It takes counts. Never blocks, never fails.
   *
   * @param storeMicros microseconds of the store's epoch
   */
  Tally open(String key, String plan, long storeMicros);

  /** Of a limiter whose use nobody reads: takes all counts and keeps none. */
  static Usage unread() {
    return (key, plan, storeMicros) -> UnreadSheet.TALLY;
  }
}
