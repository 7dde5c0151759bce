package dev.weir.decision;

import dev.weir.config.Algorithm;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.FixedWindow;
import dev.weir.config.Gateway;
import dev.weir.config.Limit;
import dev.weir.config.OnStoreFailure;
import dev.weir.config.Plan;
import dev.weir.config.Shard;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Every;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Configurations for tests. */
final class Plans {

  private Plans() {}

  static Limit limit(String name, double rate, Duration period, long capacity) {
    return new Limit(name, Set.of(), new TokenBucket(rate, period, capacity));
  }

  static Plan bucket(String name, double rate, Duration period, long capacity) {
    return new Plan(name, List.of(limit("default", rate, period, capacity)));
  }

  static Plan of(String name, Algorithm algorithm) {
    return new Plan(name, List.of(new Limit(Limit.DEFAULT_NAME, Set.of(), algorithm)));
  }

  static Plan strict(String name, Algorithm algorithm) {
    return new Plan(name, List.of(new Limit(Limit.DEFAULT_NAME, Set.of(), algorithm, true)));
  }

  /** One of the three algorithms whose permits are leased, 0 to 2, by the second. */
  static Algorithm leasable(int kind, int quota) {
    Duration second = Duration.ofSeconds(1);
    return switch (kind) {
      case 0 -> new TokenBucket(quota / 3.0, second, quota);
      case 1 -> new FixedWindow(quota, new Every(second));
      default -> new SlidingWindow(quota, second);
    };
  }

  /** Of one limit that is divided over sub-counters. */
  static Plan divided(String name, int shards, Algorithm algorithm, boolean strict) {
    Limit limit = new Limit(Limit.DEFAULT_NAME, Set.of(), algorithm, strict, Shard.all(shards));
    return new Plan(name, List.of(limit));
  }

  /** The same, of which no request is denied. */
  static Plan shadow(Plan plan) {
    return new Plan(plan.name(), plan.limits(), false, true, plan.onStoreFailure());
  }

  /** The same, with another answer to a store that is away. */
  static Plan onStoreFailure(OnStoreFailure policy, Plan plan) {
    return new Plan(plan.name(), plan.limits(), false, plan.shadow(), policy);
  }

  /** The first plan is the default one. */
  static ConfigSnapshot config(Plan... plans) {
    return new ConfigSnapshot(
        1,
        Optional.of(plans[0].name()),
        Arrays.stream(plans).collect(Collectors.toMap(Plan::name, Function.identity())),
        Map.of("search", 10L, "health", 0L),
        Gateway.DEFAULT,
        Map.of());
  }
}
