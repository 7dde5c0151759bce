package dev.weir.lease;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What is measured of one Redis: its calls, the keys in each, whether it is connected and asked.
 */
final class ShardMeters {
  private static final String SHARD = "shard";

  private final MeterRegistry registry;
  private final Timer call;
  private final DistributionSummary keys;
  private final Gauge connected;
  private final Gauge open;

  ShardMeters(
      MeterRegistry registry, String shard, BooleanSupplier isConnected, BooleanSupplier isOpen) {
    this.registry = registry;
    this.call =
        Timer.builder("weir.store.call")
            .description("Time from sending a script call to its reply")
            .tag(SHARD, shard)
            .serviceLevelObjectives(
                Duration.ofNanos(250_000),
                Duration.ofMillis(1),
                Duration.ofMillis(2),
                Duration.ofMillis(5),
                Duration.ofMillis(20),
                Duration.ofMillis(100),
                Duration.ofMillis(500))
            .register(registry);
    this.keys =
        DistributionSummary.builder("weir.store.call.keys")
            .description("Refills that one script call carries")
            .tag(SHARD, shard)
            .serviceLevelObjectives(1, 4, 16, 64, 256)
            .register(registry);
    this.connected =
        gauge(
            "weir.store.connected", "Whether this Redis is connected: 1 or 0", shard, isConnected);
    this.open =
        gauge(
            "weir.store.open",
            "Whether this Redis is left alone, since it is late or fails: 1 or 0",
            shard,
            isOpen);
  }

  private Gauge gauge(String name, String description, String shard, BooleanSupplier isTrue) {
    return Gauge.builder(name, () -> isTrue.getAsBoolean() ? 1 : 0)
        .description(description)
        .tag(SHARD, shard)
        .register(registry);
  }

  void called(long micros, int refills) {
    call.record(micros, TimeUnit.MICROSECONDS);
    keys.record(refills);
  }

  void close() {
    registry.remove(call);
    registry.remove(keys);
    registry.remove(connected);
    registry.remove(open);
  }
}
