package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.Store;
import dev.weir.lease.StoreUrl;
import dev.weir.lease.Stores;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;

/** Stores for tests on virtual time. */
final class TestStores {

  /** The embedded store does not ask anything of it. */
  private static final Vertx VERTX = Vertx.vertx();

  private TestStores() {}

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
