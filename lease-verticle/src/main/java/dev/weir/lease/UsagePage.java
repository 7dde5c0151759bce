package dev.weir.lease;

import java.util.List;

/**
 * Entries of the stream that were read at once.
 *
 * @param records that they hold, in their order
 * @param ids of the entries, of which some may hold no record
 */
public record UsagePage(List<UsageRecord> records, List<String> ids) {
  static final UsagePage EMPTY = new UsagePage(List.of(), List.of());

  public UsagePage {
    records = List.copyOf(records);
    ids = List.copyOf(ids);
  }

  /** Whether there was nothing to read. */
  public boolean isEmpty() {
    return ids.isEmpty();
  }
}
