package dev.weir.decision;

import dev.weir.lease.AccountingWindow;
import dev.weir.lease.Tally;
import dev.weir.lease.TallySheet;
import dev.weir.lease.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** Adds up what a node counts, and forgets nothing. Safe to use from any thread. */
final class CountedUsage implements Usage {

  private final AccountingWindow windows;
  private final List<Counted> opened = new ArrayList<>();

  /** What a tally is of. */
  record Of(String key, String plan, long untilMicros) {}

  CountedUsage(Duration window) {
    this.windows = new AccountingWindow(window.toNanos() / 1000);
  }

  @Override
  public synchronized Tally open(String key, String plan, long storeMicros) {
    Counted tally = new Counted(new Of(key, plan, windows.untilMicros(key, storeMicros)));
    opened.add(tally);
    return new Tally(tally, 0);
  }

  /** No tally that is open takes counts any more. */
  synchronized void close() {
    opened.forEach(Counted::close);
  }

  synchronized int tallies() {
    return opened.size();
  }

  long spent() {
    return sum(of -> true, tally -> tally.spent + tally.degraded);
  }

  long degraded() {
    return sum(of -> true, tally -> tally.degraded);
  }

  long denied() {
    return sum(of -> true, tally -> tally.denied);
  }

  long wouldDeny() {
    return sum(of -> true, tally -> tally.wouldDeny);
  }

  /** Units allowed under a plan. */
  long spentUnder(String plan) {
    return sum(of -> of.plan.equals(plan), tally -> tally.spent + tally.degraded);
  }

  synchronized long sum(Predicate<Of> which, ToLongFunction<Counted> what) {
    return opened.stream().filter(tally -> which.test(tally.of)).mapToLong(what).sum();
  }

  /** The units spent with the store, by what they are of. */
  synchronized Map<Of, Long> spentWithStore() {
    Map<Of, Long> spent = new HashMap<>();
    opened.forEach(tally -> spent.merge(tally.of, tally.spent, Long::sum));
    return spent;
  }

  /** The most that the store was heard to have authorized, by what it is of. */
  synchronized Map<Of, Long> authorized() {
    Map<Of, Long> authorized = new HashMap<>();
    opened.forEach(tally -> authorized.merge(tally.of, tally.authorized, Math::max));
    return authorized;
  }

  /** The counts of one tally. */
  static final class Counted implements TallySheet {
    final Of of;
    long spent;
    long degraded;
    long denied;
    long wouldDeny;
    long authorized;
    private boolean closed;

    Counted(Of of) {
      this.of = of;
    }

    private synchronized void close() {
      closed = true;
    }

    @Override
    public synchronized boolean isOpen(int place) {
      return !closed;
    }

    @Override
    public synchronized boolean spend(int place, long units) {
      spent += closed ? 0 : units;
      return !closed;
    }

    @Override
    public synchronized boolean degrade(int place, long units) {
      degraded += closed ? 0 : units;
      return !closed;
    }

    @Override
    public synchronized boolean deny(int place, long units) {
      denied += closed ? 0 : units;
      return !closed;
    }

    @Override
    public synchronized boolean wouldDeny(int place, long units) {
      wouldDeny += closed ? 0 : units;
      return !closed;
    }

    @Override
    public synchronized void authorized(int place, long units) {
      authorized = Math.max(authorized, units);
    }
  }
}
