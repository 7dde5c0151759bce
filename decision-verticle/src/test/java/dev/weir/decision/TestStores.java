package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.Store;
import dev.weir.lease.StoreUrl;
import dev.weir.lease.Stores;
import dev.weir.lease.Take;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;

/** Stores for tests on virtual time. */
final class TestStores {

  /** The embedded store does not ask anything of it. */
  private static final Vertx VERTX = Vertx.vertx();

  private TestStores() {}

  /** What counts of one counter. */
  static double level(Store store, String key, Limit counter) {
    RefillOutcome look =
        store.refill(List.of(new Refill(key, List.of(Take.peek(counter))))).get(0).result();
    return counter
        .algorithm()
        .levelAfter(((RefillOutcome.Answered) look).levels().get(0).consumption(), 0);
  }

  static Store embedded(Clock clock) {
    return Stores.open(
        StoreUrl.parse("embedded"),
        "weir",
        Duration.ofSeconds(60),
        Duration.ofSeconds(2),
        new KeyRoom(1_000_000, 1_000_000, 100_000),
        VERTX,
        clock,
        new SimpleMeterRegistry());
  }
}
