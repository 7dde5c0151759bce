package dev.weir.lease;

/** What one tally has counted, where it is kept. To be used by one thread, that of the reporter. */
interface JournalEntry {

  /** Tells the entries of an incarnation apart, 0 or more. */
  long id();

  String key();

  String plan();

  /** By the store's time. */
  long windowStartMillis();

  /** By the store's time. */
  long windowEndMillis();

  /** Ends the counting; {@link #counted} is final then. */
  void close();

  boolean closed();

  /** All that is counted by now. */
  UsageCounts counted();

  /** The part of it that is known to have arrived. */
  UsageCounts acknowledged();

  /** What the last batch told, as long as its outcome is not known. */
  UsageCounts sent();

  /** The number of that batch; 0 if there is none. */
  long sentBatch();

  /** Notes what a batch is about to tell. */
  void sending(long batch, UsageCounts counts);

  /** The batch has counted. */
  void acknowledge();

  /** Nobody will ask for the entry any more. */
  void release();
}
