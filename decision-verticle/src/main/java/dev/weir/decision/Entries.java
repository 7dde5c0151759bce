package dev.weir.decision;

import dev.weir.config.Clock;
import dev.weir.decision.Waiters.Due;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Refills;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The entries of all keys of a node: has them worked on under their monitors, sends their refills
 * off and brings the outcomes home, and looks after those that the store has yet to hear of. Safe
 * to use from any thread.
 */
final class Entries {

  private final Clock clock;
  private final InForce inForce;
  private final StoreCalls calls;
  private final Orphans orphans;
  private final Accounting accounting;
  private final DecisionCounts decisions;
  private final LeaseCounts leases;
  private final KeyTable keys;
  private final CarryOver carryOver;

  private final LeaseEnds ends;

  /** Entries with something that the store has yet to hear. */
  private final ConcurrentLinkedQueue<KeyEntry> tended = new ConcurrentLinkedQueue<>();

  private final AtomicInteger tendedCount = new AtomicInteger();

  /** Work under the monitor of an entry. */
  @FunctionalInterface
  interface Work<T> {

    /**
     * Does the work.
     *
     * @param orphans for takes that the key's plan has no place for
     */
    T apply(KeyEntry entry, Consumer<Take> orphans);
  }

  Entries(
      Clock clock,
      InForce inForce,
      StoreCalls calls,
      Orphans orphans,
      Accounting accounting,
      DecisionCounts decisions,
      LeaseCounts leases,
      int places) {
    this.clock = clock;
    this.inForce = inForce;
    this.calls = calls;
    this.orphans = orphans;
    this.accounting = accounting;
    this.decisions = decisions;
    this.leases = leases;
    this.keys = new KeyTable(places, this::evict);
    this.ends = new LeaseEnds(clock);
    this.carryOver = new CarryOver(clock, keys, this::tell);
  }

  /** The entry of {@code key}, or null. It may be evicted at any time. */
  KeyEntry get(String key) {
    return keys.get(key);
  }

  int size() {
    return keys.size();
  }

  /**
   * Works on the entry of {@code key}, under its monitor.
   *
   * @param plan for the key if it has no entry
   */
  <T> T with(String key, BoundPlan plan, long nowMicros, Work<T> work) {
    while (true) {
      KeyEntry entry = keys.getOrMake(key, made -> entryOf(made, plan));
      List<Take> left = new ArrayList<>(0);
      T result;
      synchronized (entry) {
        if (entry.evicted()) {
          continue;
        }
        entry.touched = true;
        entry.expire(nowMicros);
        result = work.apply(entry, left::add);
        tend(entry, left::add);
      }
      orphans.settle(key, left, nowMicros);
      return result;
    }
  }

  /** A new entry, which owes what was left of one that was evicted. */
  private KeyEntry entryOf(String key, BoundPlan plan) {
    KeyEntry entry = new KeyEntry(key, plan);
    List<Take> left = orphans.reclaim(key);
    if (!left.isEmpty()) {
      synchronized (entry) {
        entry.restore(left, true, orphan -> orphans.settle(key, List.of(orphan), clock.micros()));
      }
    }
    return entry;
  }

  /** Starts the refill ahead of need, if it is due. */
  void refillAhead(KeyEntry entry, long nowMicros) {
    InFlight flight;
    synchronized (entry) {
      flight = entry.refillAhead(inForce.ceilings(), inForce.nodes(), nowMicros);
    }
    submit(entry, flight);
  }

  /** Sends a refill off, without the monitor; null for none. */
  void submit(KeyEntry entry, InFlight flight) {
    submit(entry, flight, outcome -> {});
  }

  private void submit(KeyEntry entry, InFlight flight, Consumer<RefillOutcome> landed) {
    if (flight != null) {
      for (Refill refill : flight.refills) {
        calls.submit(refill, flight.wantedAtMicros, new Landing(entry, flight, refill, landed));
      }
    }
  }

  /** Has the store told what this node knows of every key: it may have lost that. */
  void carryOver(String loss, boolean foundHere) {
    carryOver.begin(loss, foundHere);
  }

  private boolean tell(KeyEntry entry, Consumer<RefillOutcome> landed) {
    long now = clock.micros();
    InFlight flight;
    synchronized (entry) {
      flight = entry.evicted() ? null : entry.refillToTell(now);
    }
    if (flight == null) {
      return false;
    }
    submit(entry, flight, landed);
    return true;
  }

  /** Waits for the outcome of a refill and brings it home. */
  private final class Landing implements Refills.Listener {
    private final KeyEntry entry;
    private final InFlight flight;
    private final Refill refill;
    private final Consumer<RefillOutcome> landed;

    /**
     * @param refill one of {@code flight}
     * @param landed given the outcome of the last of these, at the end
     */
    Landing(KeyEntry entry, InFlight flight, Refill refill, Consumer<RefillOutcome> landed) {
      this.entry = entry;
      this.flight = flight;
      this.refill = refill;
      this.landed = landed;
    }

    @Override
    public void onOutcome(RefillOutcome outcome) {
      long now = clock.micros();
      List<Due> due = new ArrayList<>();
      List<Take> left = new ArrayList<>(0);
      InFlight next = null;
      boolean last;
      calls.heard(outcome, now);
      synchronized (entry) {
        if (outcome instanceof Answered answer) {
          entry.answered(flight, refill, answer, accounting, restMicros(now), now, left::add);
        } else {
          entry.unavailable(flight, refill, (Unavailable) outcome, now, left::add);
        }
        last = flight.landed();
        if (last) {
          next = flight.failed() ? unavailable(now, due, left) : answered(now, due, left);
        }
        tend(entry, left::add);
      }
      orphans.settle(entry.key, left, now);
      submit(entry, next);
      calls.landed();
      if (outcome instanceof Answered answer) {
        leases.taken(entry.key, entry.bound(), refill.takes(), answer);
      }
      deliver(due);
      if (last) {
        landed.accept(flight.outcome(outcome));
      }
    }

    private InFlight answered(long now, List<Due> due, List<Take> left) {
      if (entry.withoutStore(now)) {
        // What is spent meanwhile is charged as keys are tended, a few times a second.
        entry.serveWithoutStore(this::current, accounting, inForce.nodes(), now, due, left::add);
        return null;
      }
      entry.serve(this::current, accounting, now, due, left::add);
      if (entry.waiting()) {
        return entry.refillForWaiters(inForce.ceilings(), inForce.nodes(), now);
      }
      inForce.rebind(entry, left::add);
      entry.expire(now);
      entry.trim(inForce.ceilings(), inForce.nodes());
      return entry.refillToCharge(now);
    }

    private InFlight unavailable(long now, List<Due> due, List<Take> left) {
      if (!flight.inVain() && !entry.withoutStore(now)) {
        entry.serve(this::current, accounting, now, due, left::add);
      }
      if (entry.servedElsewhere(now)) {
        return entry.refillForWaiters(inForce.ceilings(), inForce.nodes(), now);
      }
      entry.serveWithoutStore(this::current, accounting, inForce.nodes(), now, due, left::add);
      return null;
    }

    @Override
    public void onOverdue() {
      long now = clock.micros();
      List<Due> due = new ArrayList<>();
      List<Take> left = new ArrayList<>(0);
      calls.overdue(now);
      synchronized (entry) {
        entry.late();
        entry.serveWithoutStore(this::current, accounting, inForce.nodes(), now, due, left::add);
        tend(entry, left::add);
      }
      orphans.settle(entry.key, left, now);
      deliver(due);
    }

    private BoundPlan current(BoundPlan plan) {
      return inForce.current(plan, entry.key);
    }

    private void deliver(List<Due> due) {
      for (Due each : due) {
        each.deliver(decisions.conclude(each.plan(), each.decision()));
      }
    }
  }

  /**
   * How long other nodes, if there are any, may take to be answered again: see {@link StoreCalls}.
   */
  long restMicros(long nowMicros) {
    return inForce.nodes() == 1 ? 0 : calls.restMicros(nowMicros);
  }

  /** Puts the entry among those that are looked after, under its monitor. */
  private void tend(KeyEntry entry, Consumer<Take> left) {
    if (!LeaseEnds.has(entry) && entry.leased()) {
      ends.add(entry, entry.leaseUntilMicros());
      // A configuration that came into force just now has not found it there.
      inForce.rebind(entry, left);
    }
    if (!entry.tended && entry.owing()) {
      entry.tended = true;
      tended.add(entry);
      tendedCount.incrementAndGet();
    }
  }

  /**
   * Ends some of the leases whose time is over.
   *
   * @return false if there were none
   */
  boolean endLeases() {
    return ends.due(this::end);
  }

  /** Puts all leases under the configuration in force, and tells what is owed. */
  void rebind() {
    ends.all(this::end);
    tend();
  }

  /** Ends all leases, and tells what is owed. */
  void giveAllBack() {
    ends.all(
        entry -> {
          synchronized (entry) {
            entry.giveBackAll();
          }
          end(entry);
        });
    tend();
  }

  /** Looks at an entry whose lease may be over, and tells the store what is left of it. */
  private void end(KeyEntry entry) {
    settle(entry, !calls.away(), clock.micros());
  }

  /** Tells the store what it has yet to hear. To be called a few times a second. */
  void tend() {
    long now = clock.micros();
    boolean probing = calls.away();
    calls.lookForEnd(now);
    carryOver.look();
    boolean probed = orphans.settleKept(probing, now);
    for (int left = tendedCount.get(); left > 0; left--) {
      KeyEntry entry = tended.poll();
      if (entry == null) {
        return;
      }
      tendedCount.decrementAndGet();
      synchronized (entry) {
        entry.tended = false;
      }
      // While the store is away one key asks for all, lest every key ask in vain each time.
      probed |= settle(entry, !(probing && probed), now);
    }
  }

  /**
   * Brings the entry up to now.
   *
   * @param telling whether to tell the store what is owed, if something is
   * @return whether that was done
   */
  private boolean settle(KeyEntry entry, boolean telling, long now) {
    List<Take> takes = new ArrayList<>(0);
    InFlight flight;
    synchronized (entry) {
      inForce.rebind(entry, takes::add);
      entry.expire(now);
      flight = telling ? entry.refillToSettle(now) : null;
      tend(entry, takes::add);
    }
    orphans.settle(entry.key, takes, now);
    submit(entry, flight);
    return flight != null;
  }

  /** Drops what is held, owed and known of {@code key}. */
  void forget(String key) {
    KeyEntry entry = keys.get(key);
    if (entry != null) {
      synchronized (entry) {
        entry.forget();
      }
    }
  }

  private boolean evict(KeyEntry entry, boolean indebted) {
    List<Take> left = new ArrayList<>(0);
    boolean evicted;
    synchronized (entry) {
      evicted = entry.evict(indebted, left::add);
    }
    orphans.settle(entry.key, left, clock.micros());
    return evicted;
  }

  /** Whether the store has been told all there is to tell: no lease, no debt. */
  boolean settled() {
    return tendedCount.get() == 0 && ends.isEmpty();
  }

  /** Permits leased and not yet spent, of all limits of all keys. */
  long outstanding() {
    long[] sum = new long[1];
    keys.visit(
        0,
        Integer.MAX_VALUE,
        entry -> {
          sum[0] += entry.outstanding();
          return true;
        });
    return sum[0];
  }
}
