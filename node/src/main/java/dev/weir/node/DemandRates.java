package dev.weir.node;

import dev.weir.config.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How much is asked for on this node, permits a second by plan: an average over half a minute, in
 * which what is further back counts less. What was before a plan's first total is not known, and
 * takes no part: else a node that has just started would seem to be asked for little. One thread
 * samples, any thread reads.
 */
final class DemandRates {

  /** Time after which a rate that has ended counts 1/e still. */
  private static final double MEMORY_MICROS = 30e6;

  /** Below it a rate is none, permits a second. */
  private static final double NEGLIGIBLE = 1e-3;

  private final Clock clock;
  private Map<String, Long> sinceMicros = Map.of();
  private Map<String, Double> averages = Map.of();
  private Map<String, Long> totals;
  private long sampledMicros;
  private volatile Optional<Map<String, Double>> rates = Optional.empty();

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
    long elapsed = now - sampledMicros;
    if (elapsed <= 0) {
      return;
    }
    double weight = part(elapsed);
    Map<String, Long> since = new HashMap<>();
    Map<String, Double> sampled = new HashMap<>();
    Map<String, Double> told = new HashMap<>();
    newTotals.forEach(
        (plan, total) -> {
          long asked = Math.max(0, total - totals.getOrDefault(plan, 0L));
          since.put(plan, sinceMicros.getOrDefault(plan, sampledMicros));
          double before = averages.getOrDefault(plan, 0.0);
          double average = before + (asked * 1e6 / elapsed - before) * weight;
          if (average >= NEGLIGIBLE) {
            sampled.put(plan, average);
            told.put(plan, average / part(now - since.get(plan)));
          }
        });
    averages = sampled;
    sinceMicros = since;
    rates = Optional.of(Map.copyOf(told));
    totals = newTotals;
    sampledMicros = now;
  }

  /** What part of the average is of the last {@code micros}. */
  private static double part(long micros) {
    return -Math.expm1(-micros / MEMORY_MICROS);
  }

  /** The rates as of the last sample; empty before the first. Any thread. */
  Optional<Map<String, Double>> rates() {
    return rates;
  }
}
