package dev.weir.decision;

import dev.weir.lease.Refill;
import dev.weir.lease.Take;

/** The refill of a key that is under way. Its state is under the monitor of the key's entry. */
final class InFlight {
  final Refill refill;
  final long wantedAtMicros;
  final long askedMicros;
  boolean overdue;

  /** Whether the store has forgotten the key since, so that its answer tells of nothing. */
  boolean forgotten;

  InFlight(Refill refill, long wantedAtMicros, long askedMicros) {
    this.refill = refill;
    this.wantedAtMicros = wantedAtMicros;
    this.askedMicros = askedMicros;
  }

  boolean returns() {
    return refill.takes().stream().anyMatch(take -> take.returned() > 0);
  }

  /** Units of a limit that it charges. */
  long charged(String limitName) {
    return refill.takes().stream()
        .filter(take -> take.limit().name().equals(limitName))
        .mapToLong(Take::charged)
        .sum();
  }
}
