package dev.weir.lease;

import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.config.Consumption.Came;
import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.SlidingWindow;
import dev.weir.lease.OpenReservations.Part;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the embedded store holds of limits, under the names that {@code refill.lua} gives it. Owned
 * by one thread.
 */
final class EmbeddedCounters {
  /** An entry outlives its time to empty by this much, as it does in Redis. */
  static final double MARGIN_MILLIS = 10_000;

  private static final double ROUNDING = Algorithm.ROUNDING;

  /** Each has 24 bytes. */
  private static final int LOG_ENTRIES_A_PLACE = 16;

  /** Of a limit of a key, or a sub-counter of it. */
  record Name(String key, Shard shard, String limit) {
    static Name of(String key, Limit limit) {
      return new Name(key, limit.shard(), limit.name());
    }
  }

  /** Of one window of a limit of a key. */
  record WindowName(Name limit, long number) {}

  /**
   * Permits of one window.
   *
   * @param firstMicros when the first came, by the store's time
   * @param lastMicros when the last came
   */
  record WindowCount(double units, long firstMicros, long lastMicros) {
    static final WindowCount NONE = new WindowCount(0, 0, 0);

    WindowCount less(long returned) {
      double left = units - returned;
      return left > 0 ? new WindowCount(left, firstMicros, lastMicros) : NONE;
    }

    /**
     * Without those that came first. When the next one did is not known: no later than the last.
     */
    WindowCount withoutFirst(long returned) {
      double left = units - returned;
      return left > 0 ? new WindowCount(left, lastMicros, lastMicros) : NONE;
    }

    WindowCount more(double came, long now) {
      if (came == 0) {
        return this;
      }
      long first = units > 0 ? firstMicros : now;
      return new WindowCount(units + came, first, Math.max(lastMicros, now));
    }

    Came came(long now) {
      return units > 0 ? new Came(now - firstMicros, now - lastMicros) : Came.NOW;
    }
  }

  /** How a limit is counted, and of a bucket all there is. What no level stands for is void. */
  sealed interface Level {}

  /**
   * A bucket's level, true at {@code atMicros}. It changes in place, since each new object that an
   * old one refers to is one that the collector has to find.
   */
  static final class BucketLevel implements Level {
    private double used;
    private long atMicros;
    private double expiresMillis;

    BucketLevel(double used, long atMicros, double expiresMillis) {
      set(used, atMicros, expiresMillis);
    }

    private void set(double used, long atMicros, double expiresMillis) {
      this.used = used;
      this.atMicros = atMicros;
      this.expiresMillis = expiresMillis;
    }

    double used() {
      return used;
    }

    long atMicros() {
      return atMicros;
    }

    double expiresMillis() {
      return expiresMillis;
    }
  }

  /**
   * The last window that was written to.
   *
   * @param lengthMicros of a sliding window; 0 for a fixed one
   * @param period by which two kinds of windows are told apart
   */
  record WindowLevel(long lengthMicros, String period, long number, long endMicros)
      implements Level {
    boolean sliding() {
      return lengthMicros > 0;
    }

    boolean counts(WindowLevel other) {
      return lengthMicros == other.lengthMicros && period.equals(other.period);
    }
  }

  /** That there is a log, with room for a number of entries. */
  record LogLevel(long windowMicros, int entries) implements Level {}

  /**
   * What counts now of what was counted in another way.
   *
   * @param units permits
   * @param endMicros of the window that they were counted in, 0 for a bucket
   */
  record Carried(double units, long endMicros) {
    private static final long NEVER = -1;

    /** In whole permits, after what the node gives back of it. */
    double whole(Take take) {
      double left = take.grantedIn() == endMicros ? Math.max(0, units - take.returned()) : units;
      return Math.ceil(left * (1 - ROUNDING));
    }
  }

  /** A level and the reservations of it, which live as long. */
  private record Kept(Level level, Optional<OpenReservations> open) {}

  private final ExpiringMap<Name, Kept> levels;

  // A level stands for these, and they go with it.
  private final ExpiringMap<WindowName, WindowCount> windows = new ExpiringMap<>();
  final ExpiringMap<Name, RequestLog> logs = new ExpiringMap<>();

  private final LongAdder dropped = new LongAdder();

  /**
   * @param most places of levels, see {@link KeyRoom}
   */
  EmbeddedCounters(int most) {
    levels = new ExpiringMap<>(most, this::places, this::dropped);
  }

  private int places(Name limit, Kept kept) {
    int text = KeyRoom.places(limit.key);
    int open = kept.open.map(OpenReservations::size).orElse(0);
    if (kept.level instanceof BucketLevel) {
      return text + open;
    }
    return kept.level instanceof LogLevel log
        ? text + 1 + log.entries / LOG_ENTRIES_A_PLACE + open
        : text + 1 + open;
  }

  private void dropped(Name limit, Kept kept) {
    dropped.increment();
    dropCounts(limit, kept.level);
  }

  /** Levels that had to make room for others. Safe to read from any thread. */
  long droppedCount() {
    return dropped.sum();
  }

  boolean holds(Name limit, long now) {
    return levels.get(limit, now / 1000).isPresent();
  }

  /** The level of a limit, once reservations whose time is over have ended. */
  Optional<Level> opened(Name limit, long now) {
    Optional<Kept> kept = levels.get(limit, now / 1000);
    if (kept.isEmpty()) {
      return Optional.empty();
    }
    Optional<Level> level = Optional.of(kept.get().level);
    Optional<OpenReservations> open = kept.get().open;
    if (open.isEmpty()) {
      return level;
    }
    List<Part> over = open.get().removeUpTo(now);
    if (over.isEmpty()) {
      return level;
    }
    for (Part part : over) {
      level = level.flatMap(l -> giveBack(limit, l, open.get(), part, part.units(), now));
    }
    return ended(limit, level, open.get());
  }

  /** Ends a part of a reservation, of which {@code units} go back; nothing if it has ended. */
  void end(Name limit, Part part, long units, long now) {
    Optional<Level> level = opened(limit, now);
    Optional<OpenReservations> open = open(limit, now / 1000);
    if (open.isPresent() && open.get().remove(part)) {
      if (units > 0) {
        level = level.flatMap(l -> giveBack(limit, l, open.get(), part, units, now));
      }
      ended(limit, level, open.get());
    }
  }

  private Optional<Level> ended(Name limit, Optional<Level> level, OpenReservations open) {
    Optional<OpenReservations> left = open.isEmpty() ? Optional.empty() : Optional.of(open);
    level.ifPresentOrElse(
        l -> levels.replace(limit, new Kept(l, left)), () -> levels.remove(limit));
    return level;
  }

  /** The level without {@code units} that were reserved; empty if nothing is left of it. */
  private Optional<Level> giveBack(
      Name limit, Level level, OpenReservations open, Part part, long units, long now) {
    if (level instanceof BucketLevel bucket) {
      double left = open.unleaked((double) units, part.mark());
      double rest = Math.max(0, bucket.used - left);
      if (rest == 0) {
        return Optional.empty();
      }
      long atMillis = bucket.atMicros / 1000;
      double life = bucket.expiresMillis - atMillis - MARGIN_MILLIS;
      double expires = atMillis + Math.ceil(life * (rest / bucket.used)) + MARGIN_MILLIS;
      return Optional.of(new BucketLevel(rest, bucket.atMicros, expires));
    }
    if (level instanceof LogLevel log) {
      takeBack(limit, (long) part.mark(), units, log.windowMicros, now);
    } else {
      WindowName window = new WindowName(limit, (long) part.mark());
      WindowCount before = windows.get(window, now / 1000).orElse(WindowCount.NONE);
      boolean first = units == part.units() && part.atMicros() <= before.firstMicros;
      WindowCount count = first ? before.withoutFirst(units) : before.less(units);
      if (count.units() > 0) {
        windows.replace(window, count);
      } else {
        windows.remove(window);
      }
    }
    return Optional.of(level);
  }

  /** Takes units off the entry of {@code atMicros}, if it still counts. */
  void takeBack(Name limit, long atMicros, long units, long windowMicros, long now) {
    RequestLog log = log(limit, now);
    if (atMicros > now - windowMicros && log.takeBack(atMicros, units)) {
      keepLog(limit, log, windowMicros, now);
    }
  }

  RequestLog log(Name limit, long now) {
    return logs.get(limit, now / 1000).orElseGet(RequestLog::new);
  }

  void keepLog(Name limit, RequestLog log, long windowMicros, long now) {
    long nowMillis = now / 1000;
    double expires = nowMillis + windowMicros / 1000 + MARGIN_MILLIS;
    if (log.isEmpty()) {
      logs.remove(limit);
    } else {
      logs.put(limit, log, expires, nowMillis);
    }
    keep(limit, new LogLevel(windowMicros, log.capacity()), expires, nowMillis);
  }

  /** Keeps a level; what is reserved of it stays so. */
  void keep(Name limit, Level level, double expiresMillis, long nowMillis) {
    levels.put(limit, new Kept(level, open(limit, nowMillis)), expiresMillis, nowMillis);
  }

  /**
   * Keeps the level of a bucket that is true now.
   *
   * @param leaked since it was last kept, permits
   */
  void keepBucket(Name limit, double used, double leaked, double expiresMillis, long now) {
    long nowMillis = now / 1000;
    Optional<Kept> before = levels.get(limit, nowMillis);
    before.flatMap(Kept::open).ifPresent(open -> open.leaked += leaked);
    if (before.isPresent() && before.get().level instanceof BucketLevel level) {
      level.set(used, now, expiresMillis);
      levels.put(limit, before.get(), expiresMillis, nowMillis);
    } else {
      keep(limit, new BucketLevel(used, now, expiresMillis), expiresMillis, nowMillis);
    }
  }

  void remove(Name limit) {
    levels.remove(limit);
  }

  Optional<OpenReservations> open(Name limit, long nowMillis) {
    return levels.get(limit, nowMillis).flatMap(Kept::open);
  }

  boolean reserved(Name limit, long nowMillis) {
    return open(limit, nowMillis).isPresent();
  }

  /** Notes that a part, just granted, is reserved. */
  void reserve(Name limit, Part part, long nowMillis) {
    Optional<Kept> kept = levels.get(limit, nowMillis);
    OpenReservations open = kept.flatMap(Kept::open).orElseGet(OpenReservations::new);
    open.add(part);
    kept.ifPresent(k -> levels.replace(limit, new Kept(k.level, Optional.of(open))));
  }

  WindowCount count(Name limit, long number, long nowMillis) {
    return windows.get(new WindowName(limit, number), nowMillis).orElse(WindowCount.NONE);
  }

  void setCount(Name limit, long number, WindowCount count, double expiresMillis, long nowMillis) {
    WindowName name = new WindowName(limit, number);
    if (count.units() > 0) {
      windows.put(name, count, expiresMillis, nowMillis);
    } else {
      windows.remove(name);
    }
  }

  Carried carried(Name limit, Level from, long now) {
    if (from instanceof BucketLevel bucket) {
      long atMillis = bucket.atMicros / 1000;
      // Its rate is not kept, but how long it was given to live tells it.
      double life = (bucket.expiresMillis - atMillis - MARGIN_MILLIS) * 1000;
      double left = life - Math.max(0, now - bucket.atMicros);
      return new Carried(left > 0 ? bucket.used * (left / life) : 0, 0);
    }
    if (from instanceof LogLevel log) {
      Optional<RequestLog> kept = logs.get(limit, now / 1000);
      return new Carried(
          kept.map(l -> l.unitsAfter(now - log.windowMicros)).orElse(0L), Carried.NEVER);
    }
    WindowLevel window = (WindowLevel) from;
    WindowCount used = count(limit, window.number, now / 1000);
    long left = window.endMicros - now;
    if (!window.sliding()) {
      return new Carried(left > 0 ? used.units() : 0, window.endMicros);
    }
    WindowCount previous = count(limit, window.number - 1, now / 1000);
    Consumption told =
        new Consumption(used.units(), previous.units(), left, used.came(now), previous.came(now));
    return new Carried(SlidingWindow.levelAfter(told, 0, window.lengthMicros), window.endMicros);
  }

  /** Drops a level and what it stands for. */
  void drop(Name limit, Level level) {
    dropCounts(limit, level);
    levels.remove(limit);
  }

  private void dropCounts(Name limit, Level level) {
    if (level instanceof LogLevel) {
      logs.remove(limit);
    } else if (level instanceof WindowLevel window) {
      windows.remove(new WindowName(limit, window.number));
      windows.remove(new WindowName(limit, window.number - 1));
    }
  }

  void forget(Name limit, long nowMillis) {
    levels.get(limit, nowMillis).ifPresent(kept -> drop(limit, kept.level));
  }
}
