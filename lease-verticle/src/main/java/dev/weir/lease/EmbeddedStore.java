package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.config.TokenBucket;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The store of a single node, in its own memory: the exact twin of {@code refill.lua}, which says
 * what each step is for. Its time is the node's wall clock at the start, carried on by the clock
 * that never steps. What it holds is bounded as in Redis, by its entries' time to live.
 */
final class EmbeddedStore implements Store {
  private static final double MARGIN_MILLIS = 10_000;
  private static final double MAX_TTL_MILLIS = 9e18;

  private record LevelName(String key, String limit) {}

  private record CounterName(String key, String limit, long window) {}

  private record Stored(double used, long atMicros, double expiresMillis) {}

  private static final class Counter {
    private long units;
  }

  /** A take under way: the level that it found, leaked, with returns and charges applied. */
  private record Found(
      Take take, TokenBucket bucket, Optional<Stored> stored, double used, boolean ahead) {

    boolean fits() {
      return take.need() == 0 || bucket.fits(used, take.need());
    }

    long grantable() {
      return Math.max(take.need(), Math.min(take.ask(), bucket.free(used)));
    }
  }

  private final ExpiringMap<LevelName, Stored> levels = new ExpiringMap<>();
  private final ExpiringMap<CounterName, Counter> authorized = new ExpiringMap<>();
  private final AccountingWindow window;
  private final Clock clock;
  private final long epochMicros;

  EmbeddedStore(AccountingWindow window, Clock clock) {
    this.window = window;
    this.clock = clock;
    this.epochMicros = clock.epochMillis() * 1000 - clock.micros();
  }

  @Override
  public synchronized List<Future<RefillOutcome>> refill(List<Refill> batch) {
    long now = epochMicros + clock.micros();
    List<Future<RefillOutcome>> outcomes = new ArrayList<>(batch.size());
    for (Refill refill : batch) {
      outcomes.add(Future.succeededFuture(new Answered(now, step(refill, now))));
    }
    return outcomes;
  }

  private List<Level> step(Refill refill, long now) {
    List<Found> takes = new ArrayList<>(refill.takes().size());
    boolean fits = true;
    for (Take take : refill.takes()) {
      Found found = find(refill.key(), take, now);
      fits &= found.fits();
      takes.add(found);
    }
    List<Level> outcome = new ArrayList<>(takes.size());
    for (Found found : takes) {
      long granted = fits ? found.grantable() : 0;
      double used = found.used + granted;
      keep(refill.key(), found, granted, used, now);
      outcome.add(new Level(granted, used, authorize(refill.key(), found, granted, now)));
    }
    return outcome;
  }

  private Found find(String key, Take take, long now) {
    TokenBucket bucket = (TokenBucket) take.limit().algorithm();
    Optional<Stored> stored = levels.get(name(key, take.limit()), now / 1000);
    long elapsed = stored.map(s -> now - s.atMicros).orElse(0L);
    double used = bucket.levelAfter(stored.map(Stored::used).orElse(0.0), elapsed);
    used = Math.max(0, used - take.returned()) + take.charged();
    return new Found(take, bucket, stored, used, elapsed < 0);
  }

  private void keep(String key, Found found, long granted, double used, long now) {
    long nowMillis = now / 1000;
    Take take = found.take;
    double emptyMillis = Math.ceil(used * found.bucket.periodMicros() / found.bucket.rate() / 1000);
    boolean write = granted > 0 || take.returned() > 0 || take.charged() > 0;
    if (!write && take.ask() > 0) {
      write =
          found.ahead
              || found.stored.map(s -> nowMillis + emptyMillis > s.expiresMillis).orElse(false);
    }
    LevelName name = name(key, take.limit());
    if (write && used > 0) {
      double expires = nowMillis + Math.min(emptyMillis + MARGIN_MILLIS, MAX_TTL_MILLIS);
      levels.put(name, new Stored(used, now, expires), expires, nowMillis);
    } else if (write) {
      levels.remove(name);
    }
  }

  private long authorize(String key, Found found, long granted, long now) {
    CounterName name = new CounterName(key, found.take.limit().name(), window.index(key, now));
    long nowMillis = now / 1000;
    Optional<Counter> kept = authorized.get(name, nowMillis);
    if (granted == 0) {
      return kept.map(counter -> counter.units).orElse(0L);
    }
    Counter counter = kept.orElseGet(Counter::new);
    counter.units += granted;
    if (kept.isEmpty()) {
      authorized.put(name, counter, (double) (nowMillis + window.counterMillis()), nowMillis);
    }
    return counter.units;
  }

  @Override
  public synchronized Future<Void> forget(String key, List<String> limitNames) {
    limitNames.forEach(limit -> levels.remove(new LevelName(key, limit)));
    return Future.succeededFuture();
  }

  @Override
  public boolean immediate() {
    return true;
  }

  @Override
  public boolean healthy() {
    return true;
  }

  @Override
  public Future<Void> start() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  private static LevelName name(String key, Limit limit) {
    return new LevelName(key, limit.name());
  }
}
