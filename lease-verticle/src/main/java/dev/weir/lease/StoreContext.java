package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import java.util.random.RandomGenerator;

/** What all connections of a store have in common. */
record StoreContext(
    Vertx vertx,
    RefillScript script,
    StoreEpochs epochs,
    Clock clock,
    RandomGenerator random,
    MeterRegistry registry) {}
