package dev.weir.lease;

import java.util.stream.Stream;

/** All that one process has counted and that is kept. To be used by one thread. */
interface JournaledIncarnation {

  /** The name of the process, that no other ever has. */
  String name();

  /**
   * All entries that are not released, the oldest first: found as they are asked for, since there
   * may be more than the heap has room for.
   */
  Stream<JournalEntry> entries();

  /** Drops what no entry that is not released is in. */
  void trim();

  /** Drops everything. */
  void remove();
}
