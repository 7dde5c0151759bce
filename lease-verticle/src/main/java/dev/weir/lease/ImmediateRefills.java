package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.lease.RefillOutcome.Answered;
import java.util.List;

/**
 * Refills from a store that answers at once: on the asking thread, without a queue, and with no
 * deadline to miss.
 */
final class ImmediateRefills implements Refills {

  private final Store store;
  private final Clock clock;
  private final StoreClock storeClock;
  private final RefillMeters meters;

  ImmediateRefills(Store store, Clock clock, StoreClock storeClock, RefillMeters meters) {
    this.store = store;
    this.clock = clock;
    this.storeClock = storeClock;
    this.meters = meters;
  }

  @Override
  public void submit(Refill refill, long wantedAtMicros, Listener listener) {
    RefillOutcome outcome = store.refill(List.of(refill)).get(0).result();
    if (outcome instanceof Answered answered) {
      storeClock.observe(answered.storeMicros());
    }
    meters.took(clock.micros() - wantedAtMicros);
    listener.onOutcome(outcome);
  }
}
