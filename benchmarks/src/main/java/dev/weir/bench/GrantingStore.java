package dev.weir.bench;

import dev.weir.config.Shard;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.Store;
import dev.weir.lease.Take;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A store that grants whatever it is asked for and remembers nothing, so that what is measured in
 * front of it is the node alone. Safe to use from any thread.
 */
final class GrantingStore implements Store {

  private final long least;

  private GrantingStore(long least) {
    this.least = least;
  }

  /** One that grants what it is asked for. */
  static GrantingStore ofWhatIsAsked() {
    return new GrantingStore(0);
  }

  /**
   * One that grants more than it is asked for, where that is little, so that leases are large from
   * the first one on.
   *
   * @param permits of a lease, at least
   */
  static GrantingStore ofLeases(long permits) {
    return new GrantingStore(permits);
  }

  @Override
  public List<Future<RefillOutcome>> refill(List<Refill> batch) {
    List<Future<RefillOutcome>> outcomes = new ArrayList<>(batch.size());
    for (Refill refill : batch) {
      outcomes.add(Future.succeededFuture(granted(refill)));
    }
    return outcomes;
  }

  private RefillOutcome granted(Refill refill) {
    List<Level> levels = new ArrayList<>(refill.takes().size());
    for (Take take : refill.takes()) {
      // What gives back or looks leases nothing.
      long permits = take.ask() == 0 ? 0 : Math.max(take.ask(), least);
      levels.add(new Level(permits, 0, permits));
    }
    return new Answered(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()), levels);
  }

  @Override
  public Future<Void> forget(String key, Shard shard, List<String> limitNames) {
    return Future.succeededFuture();
  }

  @Override
  public boolean immediate() {
    return true;
  }
}
