package dev.weir.node;

import dev.weir.config.Clock;
import java.util.Map;
import java.util.TreeMap;

/**
 * How much is asked for on this node, permits a second by plan: an average over half a minute, in
 * which what is further back counts less. One thread samples, any thread reads.
 */
final class DemandRates {

  /** Time after which a rate that has ended counts 1/e still. */
  private static final double MEMORY_MICROS = 30e6;

  /** Below it a rate is none, permits a second. */
  private static final double NEGLIGIBLE = 1e-3;

  private final Clock clock;
  private Map<String, Long> totals;
  private long sampledMicros;
  private volatile Map<String, Double> rates = Map.of();

  /**
   * @param totals asked for so far, by plan
   */
  DemandRates(Clock clock, Map<String, Long> totals) {
    this.clock = clock;
    this.totals = totals;
    this.sampledMicros = clock.micros();
  }

  /** Takes in what was asked for so far, to be done every few seconds. */
  void sample(Map<String, Long> newTotals) {
    long now = clock.micros();
    double elapsed = now - sampledMicros;
    if (elapsed <= 0) {
      return;
    }
    double weight = 1 - Math.exp(-elapsed / MEMORY_MICROS);
    Map<String, Double> sampled = new TreeMap<>();
    newTotals.forEach(
        (plan, total) -> {
          long asked = Math.max(0, total - totals.getOrDefault(plan, 0L));
          double before = rates.getOrDefault(plan, 0.0);
          double rate = before + (asked * 1e6 / elapsed - before) * weight;
          if (rate >= NEGLIGIBLE) {
            sampled.put(plan, rate);
          }
        });
    rates = Map.copyOf(sampled);
    totals = newTotals;
    sampledMicros = now;
  }

  /** The rates as of the last sample. */
  Map<String, Double> rates() {
    return rates;
  }
}
