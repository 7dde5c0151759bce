package dev.weir.lease;

import dev.weir.config.Consumption;
import dev.weir.config.TokenBucket;
import dev.weir.lease.EmbeddedCounters.BucketLevel;
import dev.weir.lease.EmbeddedCounters.Level;
import dev.weir.lease.EmbeddedCounters.Name;

/** A take of a token bucket. */
final class BucketTake implements EmbeddedTake {
  private static final double MAX_TTL_MILLIS = 9e18;

  private final EmbeddedCounters counters;
  private final Name name;
  private final Take take;
  private final TokenBucket bucket;
  private final long now;
  private final Level stored;
  private final double used;
  private final double expiresMillis;
  private final boolean ahead;
  private final boolean recalled;

  /** Since the level was written, whether there was as much to leak or not, permits. */
  private final double leaked;

  /**
   * @param told what the node was told, if the store may have dropped it since
   */
  BucketTake(
      EmbeddedCounters counters, Name name, Take take, TokenBucket bucket, double told, long now) {
    this.counters = counters;
    this.name = name;
    this.take = take;
    this.bucket = bucket;
    this.now = now;
    stored = counters.opened(name, now).orElse(new BucketLevel(0, now, Double.MAX_VALUE));
    double level;
    if (stored instanceof BucketLevel kept) {
      level = bucket.levelAfter(kept.used(), now - kept.atMicros());
      expiresMillis = kept.expiresMillis();
      ahead = now < kept.atMicros();
      leaked = Math.max(0, now - kept.atMicros()) * bucket.rate() / bucket.periodMicros();
    } else {
      level = Math.min(counters.carried(name, stored, now).units(), (double) bucket.capacity());
      expiresMillis = 0;
      ahead = false;
      leaked = 0;
    }
    recalled = told > level;
    used = Math.max(0, Math.max(level, told) - take.returned()) + take.charged();
  }

  @Override
  public Take take() {
    return take;
  }

  @Override
  public double mark() {
    return counters.open(name, now / 1000).map(open -> open.leaked).orElse(0.0);
  }

  @Override
  public boolean reserved(long granted) {
    return (granted > 0 || stored instanceof BucketLevel) && counters.reserved(name, now / 1000);
  }

  @Override
  public boolean fits() {
    return take.need() == 0 || bucket.fits(used, take.need());
  }

  @Override
  public long free() {
    return bucket.free(used);
  }

  @Override
  public Consumption settle(long granted) {
    double level = used + granted;
    long nowMillis = now / 1000;
    double emptyMillis = Math.ceil(level * bucket.periodMicros() / bucket.rate() / 1000);
    boolean write = granted > 0 || take.returned() > 0 || take.charged() > 0 || recalled;
    if (!write && take.ask() > 0) {
      write = ahead || nowMillis + emptyMillis > expiresMillis;
    }
    if (write && !(stored instanceof BucketLevel)) {
      counters.drop(name, stored);
    }
    if (write && level > 0) {
      double expires =
          nowMillis + Math.min(emptyMillis + EmbeddedCounters.MARGIN_MILLIS, MAX_TTL_MILLIS);
      counters.keepBucket(name, level, leaked, expires, now);
    } else if (write) {
      counters.remove(name);
    }
    return Consumption.ofBucket(level);
  }
}
