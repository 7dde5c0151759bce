package dev.weir.lease;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** What is measured of reporting usage. Safe to use from any thread. */
final class UsageReportMeters {
  private final Counter counted;
  private final Counter failed;
  private final Counter full;
  private final Counter lost;

  UsageReportMeters(MeterRegistry registry, UsageReporter reporter) {
    Gauge.builder("weir.usage.unreported.seconds", reporter, UsageReporter::unreportedSeconds)
        .description("How long ago the store had all that this node had counted")
        .register(registry);
    Gauge.builder("weir.usage.adopted", reporter, UsageReporter::adopted)
        .description("Processes that ended before the store had all that they had counted")
        .register(registry);
    counted = calls(registry, "counted");
    failed = calls(registry, "failed");
    full = calls(registry, "full");
    lost =
        Counter.builder("weir.usage.store.losses")
            .description("How often the store had lost usage that was reported")
            .register(registry);
  }

  private static Counter calls(MeterRegistry registry, String outcome) {
    return Counter.builder("weir.usage.batches")
        .description("Batches of usage brought to the store, the same one again included")
        .tag("outcome", outcome)
        .register(registry);
  }

  void counted() {
    counted.increment();
  }

  void failed() {
    failed.increment();
  }

  void full() {
    full.increment();
  }

  void lost() {
    lost.increment();
  }
}
