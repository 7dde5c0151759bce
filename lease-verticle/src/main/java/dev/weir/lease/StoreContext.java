package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * What all connections of a store have in common.
 *
 * @param timeout how long callers wait for an answer
 */
record StoreContext(
    Vertx vertx,
    RefillScript script,
    StoreEpochs epochs,
    Duration timeout,
    Clock clock,
    RandomGenerator random,
    MeterRegistry registry) {}
