package dev.weir.bench;

import com.google.common.util.concurrent.RateLimiter;
import dev.weir.config.Clock;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What decides in this process, each with a limit of its own for every key that no benchmark
 * reaches: all are asked to count, none to deny.
 */
public enum Contenders {
  /** What every limiter by key has to do at least: find the key and add to its count. */
  FLOOR,
  /** The same without an object for each key. */
  ARRAY,
  /**
   * A node that holds permits of every key, so that it decides without the store, and counts what
   * is spent in its journal. Its time runs slowly, since leases of keys that are seldom asked about
   * would end between two requests; so there is nothing in it of the refills that {@link #WEIR}
   * makes, nor of windows that end and of what is reported of them.
   */
  WEIR_LEASED,
  /**
   * The same in its usual time, in front of a store that grants at once what it is asked for: with
   * refills, leases that end, and reports of usage.
   */
  WEIR,
  /** A node with the embedded store. */
  WEIR_EMBEDDED,
  BUCKET4J,
  RESILIENCE4J,
  GUAVA,
  SENTINEL;

  /** Requests a second that a key may make. */
  static final int LIMIT = 1_000_000_000;

  /** Permits of a lease that no key uses up. */
  private static final long LEASE = LIMIT / 4;

  private static final Duration SECOND = Duration.ofSeconds(1);

  /**
   * A new one.
   *
   * @param keys that it has to have room for, 1 or more
   */
  Contender open(int keys) {
    return switch (this) {
      case FLOOR ->
          new PerKey<>(keys, key -> new AtomicLong(), count -> count.incrementAndGet() > 0);
      case ARRAY -> new ArrayOfCounts(keys);
      case WEIR_LEASED ->
          WeirInProcess.open(keys, GrantingStore.ofLeases(LEASE), SlowClock.INSTANCE);
      case WEIR -> WeirInProcess.open(keys, GrantingStore.ofWhatIsAsked(), Clock.system());
      case WEIR_EMBEDDED -> WeirInProcess.embedded(keys);
      case BUCKET4J -> new PerKey<>(keys, key -> bucket4j(), bucket -> bucket.tryConsume(1));
      case RESILIENCE4J -> resilience4j(keys);
      case GUAVA -> new PerKey<>(keys, key -> RateLimiter.create(LIMIT), RateLimiter::tryAcquire);
      case SENTINEL -> new SentinelByParameter(LIMIT);
    };
  }

  private static Bucket bucket4j() {
    return Bucket.builder()
        .addLimit(Bandwidth.builder().capacity(LIMIT).refillGreedy(LIMIT, SECOND).build())
        .build();
  }

  private static Contender resilience4j(int keys) {
    RateLimiterConfig config =
        RateLimiterConfig.custom()
            .limitForPeriod(LIMIT)
            .limitRefreshPeriod(SECOND)
            .timeoutDuration(Duration.ZERO)
            .build();
    return new PerKey<>(
        keys,
        key -> io.github.resilience4j.ratelimiter.RateLimiter.of(key, config),
        io.github.resilience4j.ratelimiter.RateLimiter::acquirePermission);
  }
}
