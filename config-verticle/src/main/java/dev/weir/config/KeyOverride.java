package dev.weir.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * What a key has of its own in place of its plan's: numbers for one limit, weights of regions, or
 * both. The limit keeps its algorithm and its name, so that what was used of it goes on to count.
 *
 * @param limit name of the limit; empty for the only one of a plan
 * @param numbers that stand in for the plan's; empty for those of the plan
 * @param regions which part of the key's limits each region enforces, whatever moves; empty for the
 *     weights of the plan
 * @param endMillis when it ends, milliseconds since the epoch; {@link #NEVER} if it does not
 */
public record KeyOverride(
    Optional<String> limit, Optional<Numbers> numbers, RegionWeights regions, long endMillis) {

  /** The end of an override without one. */
  public static final long NEVER = Long.MAX_VALUE;

  /**
   * Numbers as their author thinks of the limit, whatever algorithm it has. What is left out stays
   * as the plan has it.
   */
  public sealed interface Numbers {

    /**
     * {@code planned} with these numbers.
     *
     * @throws IllegalArgumentException if the algorithm cannot have them; the message begins with
     *     the name of a member
     */
    Algorithm appliedTo(Algorithm planned);
  }

  /**
   * A number of permits per window. Of a bucket the limit is the capacity, and the rate fills it in
   * a window; without a window, in the time in which the plan's does.
   */
  public record WindowNumbers(OptionalLong limit, Optional<Duration> window) implements Numbers {

    /**
     * @throws IllegalArgumentException if a number is out of its range
     */
    public WindowNumbers {
      limit.ifPresent(Windows::checkLimit);
      window.ifPresent(Windows::checkWindow);
    }

    @Override
    public Algorithm appliedTo(Algorithm planned) {
      long quota = limit.orElse(planned.quota());
      if (planned instanceof TokenBucket bucket) {
        return bucket(bucket, quota);
      }
      if (planned instanceof SlidingWindow sliding) {
        return new SlidingWindow(quota, window.orElse(sliding.window()));
      }
      if (planned instanceof SlidingLog log) {
        return new SlidingLog(quota, window.orElse(log.window()));
      }
      WindowPeriod period = ((FixedWindow) planned).period();
      return new FixedWindow(
          quota, window.<WindowPeriod>map(WindowPeriod.Every::new).orElse(period));
    }

    private TokenBucket bucket(TokenBucket planned, long quota) {
      if (quota == 0) {
        // Nothing fits whatever the rate, and 0 is none.
        return new TokenBucket(planned.rate(), planned.period(), 0);
      }
      if (window.isPresent()) {
        return new TokenBucket(quota, window.get(), quota);
      }
      double scale = planned.capacity() == 0 ? 1 : (double) quota / planned.capacity();
      return new TokenBucket(planned.rate() * scale, planned.period(), quota);
    }
  }

  /**
   * A bucket's numbers. Of a window the capacity is the limit, and the window the time in which the
   * rate gives it; without a rate, the plan's window.
   *
   * @param rate permits per {@code period}
   * @param period of the rate; if left out, that of the plan's bucket, else a second
   */
  public record BucketNumbers(OptionalDouble rate, Optional<Duration> period, OptionalLong capacity)
      implements Numbers {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final double MICROS_PER_MILLI = 1000;

    /**
     * @throws IllegalArgumentException if a number is out of its range, or a period without a rate
     */
    public BucketNumbers {
      if (period.isPresent() && rate.isEmpty()) {
        throw new IllegalArgumentException("period: goes with a rate");
      }
      // Without a period the rate is checked when there is one.
      new TokenBucket(
          period.isPresent() ? rate.getAsDouble() : 1, period.orElse(SECOND), capacity.orElse(0));
    }

    @Override
    public Algorithm appliedTo(Algorithm planned) {
      long quota = capacity.orElse(planned.quota());
      if (planned instanceof TokenBucket bucket) {
        return new TokenBucket(rate.orElse(bucket.rate()), period.orElse(bucket.period()), quota);
      }
      Optional<Duration> window =
          rate.isEmpty() || quota == 0
              ? Optional.empty()
              : Optional.of(fillTime(rate.getAsDouble(), quota));
      return new WindowNumbers(OptionalLong.of(quota), window).appliedTo(planned);
    }

    private Duration fillTime(double permits, long quota) {
      TokenBucket bucket = new TokenBucket(permits, period.orElse(SECOND), quota);
      double millis = quota / bucket.permitsPerMicro() / MICROS_PER_MILLI;
      return Duration.ofMillis(Math.max(1, Math.round(millis)));
    }
  }

  /** Whether it is over at {@code epochMillis}. */
  public boolean endedBy(long epochMillis) {
    return endMillis <= epochMillis;
  }

  /**
   * {@code plan} with the key's own numbers; the plan as it is where there are none, or it has no
   * such limit, or one that cannot have these numbers.
   */
  public Plan appliedTo(Plan plan) {
    int index = indexIn(plan);
    if (index < 0 || numbers.isEmpty()) {
      return plan;
    }
    Limit planned = plan.limits().get(index);
    try {
      List<Limit> limits = new ArrayList<>(plan.limits());
      limits.set(index, planned.with(numbers.get().appliedTo(planned.algorithm())));
      return plan.withLimits(limits);
    } catch (IllegalArgumentException e) {
      // They did fit the plan that the key was on when they were set.
      return plan;
    }
  }

  /**
   * Refuses what would have no effect on {@code plan}.
   *
   * @throws ConfigRefusedException with code 400
   */
  void check(Plan plan, RegionWeights table) {
    Errors errors = new Errors();
    regions.checkIn(table, "regions", errors);
    int index = indexIn(plan);
    if (plan.unlimited()) {
      errors.add("", "the plan " + Errors.shown(plan.name()) + " is unlimited");
    } else if (numbers.isPresent() && index < 0) {
      errors.add(
          "name",
          "must be one of "
              + plan.limits().stream().map(Limit::name).collect(Collectors.joining(", "))
              + limit.map(name -> ", was " + Errors.shown(name)).orElse(""));
    } else if (numbers.isPresent()) {
      try {
        numbers.get().appliedTo(plan.limits().get(index).algorithm());
      } catch (IllegalArgumentException e) {
        errors.add("", e.getMessage());
      }
    }
    errors.throwIfAny();
  }

  private int indexIn(Plan plan) {
    if (limit.isEmpty()) {
      return plan.limits().size() == 1 ? 0 : -1;
    }
    for (int i = 0; i < plan.limits().size(); i++) {
      if (plan.limits().get(i).name().equals(limit.get())) {
        return i;
      }
    }
    return -1;
  }
}
