package dev.weir.lease;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** What is measured of the stream of usage. Safe to use from any thread. */
final class UsageMeters {
  private final MeterRegistry registry;
  private final Gauge entriesGauge;
  private final Gauge openGauge;
  private final Counter dropped;
  private volatile long entries;
  private volatile long open;

  UsageMeters(MeterRegistry registry) {
    this.registry = registry;
    this.entriesGauge =
        Gauge.builder("weir.usage.stream.entries", this, meters -> meters.entries)
            .description("Entries of the stream that some reader has yet to acknowledge")
            .register(registry);
    this.openGauge =
        Gauge.builder("weir.usage.windows.open", this, meters -> meters.open)
            .description("Windows of keys whose usage is not sealed yet")
            .register(registry);
    this.dropped =
        Counter.builder("weir.usage.stream.dropped")
            .description("Entries of the stream that were dropped, since no reader has ever come")
            .register(registry);
  }

  void answered(UsageScript.Answer answer) {
    entries = answer.entries();
    open = answer.open();
    dropped.increment((double) answer.dropped());
  }

  void close() {
    registry.remove(entriesGauge);
    registry.remove(openGauge);
    registry.remove(dropped);
  }
}
