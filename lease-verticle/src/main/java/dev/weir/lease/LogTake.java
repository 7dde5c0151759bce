package dev.weir.lease;

import dev.weir.config.Consumption;
import dev.weir.config.SlidingLog;
import dev.weir.lease.EmbeddedCounters.Level;
import dev.weir.lease.EmbeddedCounters.LogLevel;
import dev.weir.lease.EmbeddedCounters.Name;
import java.util.Optional;

/** A take of a log. */
final class LogTake implements EmbeddedTake {
  private final EmbeddedCounters counters;
  private final Name name;
  private final Take take;
  private final SlidingLog algorithm;
  private final long now;
  private final long used;

  /** Whether it was counted in another way. */
  private boolean carried;

  /**
   * @param told what the node was told, if the store may have dropped it since
   */
  LogTake(
      EmbeddedCounters counters,
      Name name,
      Take take,
      SlidingLog algorithm,
      double told,
      long now) {
    this.counters = counters;
    this.name = name;
    this.take = take;
    this.algorithm = algorithm;
    this.now = now;
    boolean touched = take.ask() > 0 || take.returned() > 0 || take.charged() > 0;
    long found = Math.max(find(touched), recall((long) told - take.returned()));
    long charged = Math.max(0, Math.min(take.charged(), RequestLog.MAX_UNITS - found));
    if (charged > 0) {
      append(charged);
    }
    used = found + charged;
  }

  private long recall(long units) {
    if (units > 0) {
      append(units);
    }
    return units;
  }

  private long find(boolean touched) {
    Optional<Level> stored = counters.opened(name, now);
    if (stored.isEmpty()) {
      if (touched) {
        counters.logs.remove(name);
      }
      return 0;
    }
    if (!(stored.get() instanceof LogLevel last)) {
      carried = true;
      long units = (long) counters.carried(name, stored.get(), now).whole(take);
      if (touched) {
        counters.drop(name, stored.get());
        if (units > 0) {
          append(units);
        }
      }
      return units;
    }
    if (touched
        && (log().newestMicros() > now || last.windowMicros() != algorithm.windowMicros())) {
      append(0);
    }
    if (take.returned() > 0) {
      counters.takeBack(name, take.grantedIn(), take.returned(), algorithm.windowMicros(), now);
    }
    return log().unitsAfter(overMicros());
  }

  private RequestLog log() {
    return counters.log(name, now);
  }

  private long overMicros() {
    return now - algorithm.windowMicros();
  }

  private void append(long units) {
    RequestLog log = log();
    log.append(now, units, overMicros());
    counters.keepLog(name, log, algorithm.windowMicros(), now);
  }

  @Override
  public Take take() {
    return take;
  }

  @Override
  public double mark() {
    return (double) now;
  }

  @Override
  public boolean reserved(long granted) {
    return (granted > 0 || !carried) && counters.reserved(name, now / 1000);
  }

  @Override
  public boolean fits() {
    return take.need() == 0 || algorithm.fits((double) used, take.need());
  }

  @Override
  public long free() {
    return algorithm.free((double) used);
  }

  @Override
  public Consumption settle(long granted) {
    if (granted > 0) {
      append(granted);
    } else if (!fits()) {
      return new Consumption((double) used, (double) take.need(), microsUntilFits());
    }
    return new Consumption((double) (used + granted), 0, 0);
  }

  private long microsUntilFits() {
    long room = algorithm.limit() - take.need();
    return room < 0 ? 0 : log().leavingMicros(room) - overMicros();
  }
}
