package dev.weir.lease;

import java.util.function.Consumer;

/** All that one process has counted and that is kept. To be used by one thread. */
interface JournaledIncarnation {

  /** The name of the process, that no other ever has. */
  String name();

  /** Visits all entries that are not released, the oldest first. */
  void forEach(Consumer<JournalEntry> action);

  /** Drops what no entry that is not released is in. */
  void trim();

  /** Drops everything. */
  void remove();
}
