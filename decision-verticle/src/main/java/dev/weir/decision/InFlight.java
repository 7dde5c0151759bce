package dev.weir.decision;

import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Take;
import java.util.List;

/**
 * What is under way for a key: a refill, or several of its sub-counters at once. Its state is under
 * the monitor of the key's entry.
 */
final class InFlight {
  final List<Refill> refills;
  final long wantedAtMicros;
  final long askedMicros;
  boolean overdue;

  /** Whether the store has forgotten the key since, so that its answer tells of nothing. */
  boolean forgotten;

  private int answered;
  private int unavailable;

  /** What became of the last that came to nothing. */
  private RefillOutcome failure;

  InFlight(List<Refill> refills, long wantedAtMicros, long askedMicros) {
    this.refills = refills;
    this.wantedAtMicros = wantedAtMicros;
    this.askedMicros = askedMicros;
  }

  /** Notes that the store has answered one of the refills; tells whether it was the last. */
  boolean answered() {
    answered++;
    return landed();
  }

  /** Notes that one of the refills came to nothing; tells whether it was the last. */
  boolean unavailable(Unavailable outcome) {
    unavailable++;
    failure = outcome;
    return landed();
  }

  boolean landed() {
    return answered + unavailable == refills.size();
  }

  /** What came of all, of which {@code last} was the last: that one came to nothing, if one did. */
  RefillOutcome outcome(RefillOutcome last) {
    return failed() ? failure : last;
  }

  /** Whether a refill came to nothing. */
  boolean failed() {
    return unavailable > 0;
  }

  /** Whether the store has answered none. */
  boolean inVain() {
    return answered == 0;
  }

  boolean returns() {
    for (Refill refill : refills) {
      for (Take take : refill.takes()) {
        if (take.returned() > 0) {
          return true;
        }
      }
    }
    return false;
  }

  /** Units of a limit that are charged. */
  long charged(String limitName) {
    return refills.stream()
        .flatMap(refill -> refill.takes().stream())
        .filter(take -> take.limit().name().equals(limitName))
        .mapToLong(Take::charged)
        .sum();
  }
}
