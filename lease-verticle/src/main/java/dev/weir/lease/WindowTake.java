package dev.weir.lease;

import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.lease.EmbeddedCounters.Level;
import dev.weir.lease.EmbeddedCounters.Name;
import dev.weir.lease.EmbeddedCounters.WindowCount;
import dev.weir.lease.EmbeddedCounters.WindowLevel;
import java.util.Optional;

/** A take of a sliding or a fixed window. */
final class WindowTake implements EmbeddedTake {
  private final EmbeddedCounters counters;
  private final Name name;
  private final Take take;
  private final Algorithm algorithm;
  private final StoreWindow window;
  private final WindowLevel level;
  private final long now;

  private WindowCount used = WindowCount.NONE;
  private WindowCount previous = WindowCount.NONE;
  private boolean write;
  private boolean writePrevious;
  private boolean writeLevel;
  private boolean stale;

  /** Counted in another way, and carried into this one. */
  private Optional<Level> carried = Optional.empty();

  /**
   * @param lengthMicros of a sliding window; 0 for a fixed one
   * @param period by which windows are told apart in the store
   * @param told what the node was told, if the store may have dropped it since
   */
  WindowTake(
      EmbeddedCounters counters,
      Name name,
      Take take,
      StoreWindow window,
      long lengthMicros,
      String period,
      double told,
      long now) {
    this.counters = counters;
    this.name = name;
    this.take = take;
    this.algorithm = take.limit().algorithm();
    this.window = window;
    this.level = new WindowLevel(lengthMicros, period, window.number(), window.endMicros());
    this.now = now;
    find(told);
  }

  private void find(double told) {
    long nowMillis = now / 1000;
    Optional<Level> stored = counters.opened(name, now);
    WindowCount former =
        level.sliding() ? counters.count(name, window.number() - 1, nowMillis) : WindowCount.NONE;
    write = take.charged() > 0;
    if (stored.isPresent()
        && stored.get() instanceof WindowLevel last
        && last.counts(level)
        && last.endMicros() <= window.nextEndMicros()) {
      used = counters.count(name, window.number(), nowMillis);
      previous = former;
      giveBack();
      writeLevel = last.endMicros() < window.endMicros();
    } else {
      if (stored.isPresent()) {
        carried = stored;
        double units = counters.carried(name, stored.get(), now).whole(take);
        if (level.sliding()) {
          units = Math.min(units, (double) algorithm.quota());
        }
        used = used.more(units, now);
        write |= take.ask() > 0 || take.returned() > 0;
      }
      stale = former.units() > 0;
      writeLevel = true;
    }
    recall(Math.max(0, told - take.returned()));
    used = used.more((double) take.charged(), now);
  }

  private void recall(double told) {
    if (told > used.units() && take.grantedIn() == window.endMicros()) {
      used = used.more(told - used.units(), now);
      write = true;
    } else if (told > previous.units()
        && level.sliding()
        && take.grantedIn() == window.endMicros() - level.lengthMicros()) {
      // When they came went with them: they count until this window ends.
      previous = new WindowCount(told, take.grantedIn(), take.grantedIn());
      stale = false;
      write = true;
      writePrevious = true;
      writeLevel = true;
    }
  }

  private void giveBack() {
    if (take.returned() == 0) {
      return;
    }
    if (take.grantedIn() == window.endMicros()) {
      used = used.less(take.returned());
      write = true;
    } else if (level.sliding() && take.grantedIn() == window.endMicros() - level.lengthMicros()) {
      previous = previous.less(take.returned());
      writePrevious = true;
    }
  }

  private Consumption counted(WindowCount count) {
    long left = window.endMicros() - now;
    return level.sliding()
        ? new Consumption(
            count.units(), previous.units(), left, count.came(now), previous.came(now))
        : new Consumption(count.units(), 0, left);
  }

  private double counting() {
    return algorithm.levelAfter(counted(used), 0);
  }

  @Override
  public Take take() {
    return take;
  }

  @Override
  public double mark() {
    return (double) window.number();
  }

  @Override
  public boolean reserved(long granted) {
    return (granted > 0 || carried.isEmpty()) && counters.reserved(name, now / 1000);
  }

  @Override
  public boolean fits() {
    return take.need() == 0 || algorithm.fits(counting(), take.need());
  }

  @Override
  public long free() {
    return algorithm.free(counting());
  }

  @Override
  public Consumption settle(long granted) {
    WindowCount count = used.more((double) granted, now);
    long nowMillis = now / 1000;
    long leftMillis = -Math.floorDiv(now - window.nextEndMicros(), 1000L);
    double expires = nowMillis + leftMillis + EmbeddedCounters.MARGIN_MILLIS;
    long number = window.number();
    if (writePrevious) {
      counters.setCount(name, number - 1, previous, expires, nowMillis);
    }
    if (write || granted > 0) {
      carried.ifPresent(from -> counters.drop(name, from));
      if (stale) {
        counters.setCount(name, number - 1, WindowCount.NONE, expires, nowMillis);
      }
      counters.setCount(name, number, count, expires, nowMillis);
      if (writeLevel && (count.units() > 0 || writePrevious)) {
        counters.keep(name, level, expires, nowMillis);
      }
    }
    return counted(count);
  }
}
