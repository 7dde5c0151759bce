package dev.weir.lease;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** What refills tell of themselves. Safe to use from any thread. */
final class RefillMeters {

  private final Timer latency;
  private final Counter overdue;
  private final Counter unavailable;

  RefillMeters(MeterRegistry registry) {
    latency =
        Timer.builder("weir.refill")
            .description("From the moment a refill is wanted to its outcome")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    overdue =
        Counter.builder("weir.refills.overdue")
            .description("Refills that missed the store deadline")
            .register(registry);
    unavailable =
        Counter.builder("weir.refills.unavailable")
            .description("Refills that the store did not answer")
            .register(registry);
  }

  void took(long micros) {
    latency.record(micros, TimeUnit.MICROSECONDS);
  }

  void overdue() {
    overdue.increment();
  }

  void unavailable() {
    unavailable.increment();
  }
}
