package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.config.OnStoreFailure;
import dev.weir.decision.Waiters.Due;
import dev.weir.decision.Waiters.Waiter;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Take;
import dev.weir.lease.TallySheet;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * All that a node holds and knows of one key: the leases of its plan, the refill under way, and the
 * callers who wait for it.
 *
 * <p><b>Concurrency.</b> Event loops spend permits by compare-and-set, without a lock: {@link
 * LimitLease#take}. Everything else is written under this object's monitor, which is held for a few
 * field accesses and never across a call out; spenders tell by {@link PlanLeases#stamp} that
 * something was written meanwhile, and settle the matter under the monitor.
 *
 * <p><b>Waiters.</b> At most one refill is in flight. Who cannot be answered joins {@link Waiters}
 * and is answered exactly once, in order: by permits of the grant, by a denial that the store's
 * level proves, or, once the refill is overdue or the store unavailable, as the plan has it then,
 * usually from the {@link Outage}. While anyone waits, nobody spends past them.
 *
 * <p><b>Permits</b> are at any moment in one place: spendable here, owed to the store, or on their
 * way to it in the refill in flight. A refill whose outcome is unknown takes its returns with it:
 * losing permits is safe, doubling them is not.
 */
final class KeyEntry extends PlanLeases {

  /** For how long after the store's last word an open plan denies by it. */
  static final long OPEN_DENIAL_MICROS = 1_000_000;

  /** The next entry of the same chain; written by {@link KeyTable} alone. */
  volatile KeyEntry next;

  /** The next entry of the same slot, see {@link LeaseEnds}. */
  KeyEntry nextEnd;

  /** Whether a decision was made here since the eviction's hand last passed. */
  boolean touched = true;

  /** Whether the entry stands in the queue of those that owe something. */
  boolean tended;

  private boolean evicted;

  KeyEntry(String key, BoundPlan plan) {
    super(key, plan);
  }

  // ---- without the monitor

  /**
   * Allows from the permits held under a {@link BoundPlan#single} plan, or returns null when that
   * takes more than a compare-and-set. The cost is above 0.
   */
  Decision spend(BoundPlan plan, long cost, Accounting accounting, long nowMicros) {
    int before = stamp();
    if ((before & 1) != 0 || waiting() || !leased(plan, nowMicros)) {
      return null;
    }
    TallySheet sheet = sheet();
    int place = place();
    if (sheet == null || !sheet.isOpen(place) || !take(cost)) {
      return null;
    }
    Decision decision = Decisions.allowed(this, "", false, nowMicros);
    VarHandle.acquireFence();
    return stamp() == before && sheet.spend(place, cost)
        ? decision
        : allowedAfterAll(cost, accounting, nowMicros);
  }

  /**
   * The permits are spent, but something was written meanwhile, or the tally was closed: read the
   * numbers and count in peace.
   */
  private synchronized Decision allowedAfterAll(long cost, Accounting accounting, long nowMicros) {
    Decision decision = Decisions.allowed(this, "", false, nowMicros);
    accounting.count(this, bound(), decision, cost);
    return decision;
  }

  /**
   * Counts what an {@link BoundPlan#unlimited} plan that the key is bound to allows; false when
   * that takes more than an addition.
   *
   * @param window of accounting that is under way
   */
  boolean count(BoundPlan plan, long cost, int window) {
    int before = stamp();
    if ((before & 1) != 0 || bound() != plan || window() != window) {
      return false;
    }
    TallySheet sheet = sheet();
    int place = place();
    VarHandle.acquireFence();
    return stamp() == before && sheet != null && sheet.spend(place, cost);
  }

  /**
   * Whether a lease is low enough to refill it ahead of need. Only a hint when asked without the
   * monitor, and then only for a {@link BoundPlan#single} plan.
   */
  boolean low(BoundPlan plan) {
    if (inFlight() != null) {
      return false;
    }
    if (plan.single) {
      return Takes.low(this);
    }
    for (int i = 0; i < plan.limits.length; i++) {
      if (Takes.low(lease(i))) {
        return true;
      }
    }
    return false;
  }

  // ---- under the monitor

  /** Puts the key under {@code plan}; permits held under other numbers are owed to the store. */
  void bind(BoundPlan plan, Consumer<Take> orphans) {
    Outage former = outage();
    if (assume(plan, orphans)) {
      // Debts go on to leak, and what stands in for the store goes on from what is owed.
      standIn(former != null && indebted() ? former.under(this) : null);
    }
  }

  /**
   * Lets the lease end if its time is over; unspent permits are owed to the store. What is owed
   * already may have ceased to count.
   */
  void expire(long nowMicros) {
    Outage outage = outage();
    if (outage != null) {
      outage.advance(nowMicros);
      if (outage.over(nowMicros)) {
        standIn(null);
      }
    }
    expireLease(nowMicros);
  }

  /** Drops what is held, owed and known of the key: the store has forgotten it. */
  void forget() {
    clearAll();
    Aside aside = makeAside();
    aside.outage = null;
    aside.forgets++;
    if (aside.inFlight != null) {
      aside.inFlight.forgotten = true;
    }
  }

  /**
   * The decision on a request of the plan that the key is bound to, as far as it can be told
   * without the store; null when it cannot.
   *
   * @param away whether the store is, as far as known
   * @param sinceMicros when the request came
   */
  Decision decide(String endpoint, long cost, boolean away, long sinceMicros, long nowMicros) {
    Decision never = Decisions.deniedForGood(this, endpoint, cost, nowMicros);
    if (never != null) {
      return never;
    }
    if (cost == 0) {
      return known(endpoint, sinceMicros, nowMicros)
          ? Decisions.allowed(this, endpoint, false, nowMicros)
          : null;
    }
    if (takeAll(endpoint, cost)) {
      return Decisions.allowed(this, endpoint, false, nowMicros);
    }
    // Permits on their way back make room that the level does not show yet.
    InFlight inFlight = inFlight();
    if (inFlight != null && inFlight.returns()) {
      return null;
    }
    if (bound().plan.onStoreFailure() == OnStoreFailure.OPEN
        && !provenTo(endpoint, away, nowMicros)) {
      return null;
    }
    return Decisions.deniedByLevel(this, endpoint, cost, sinceMicros, nowMicros);
  }

  /**
   * Whether an open plan may deny by the store's last word: while the store is away it denies
   * nothing, so it has to have been there of late. What is spent on credit denies nothing either
   * before the store has heard of it.
   */
  private boolean provenTo(String endpoint, boolean away, long nowMicros) {
    return !away && outage() == null && heardWithin(endpoint, OPEN_DENIAL_MICROS, nowMicros);
  }

  private boolean heardWithin(String endpoint, long micros, long nowMicros) {
    if (shards() != null) {
      // Which of them deny is told apart when they are asked about one by one.
      return true;
    }
    BoundPlan plan = bound();
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && !lease(i).heardWithin(micros, nowMicros)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the store's last word is fresh enough for a peek. */
  private boolean known(String endpoint, long sinceMicros, long nowMicros) {
    if (shards() != null) {
      return shards().fresh(endpoint, sinceMicros, LEASE_MICROS, nowMicros);
    }
    BoundPlan plan = bound();
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && !lease(i).isFresh(nowMicros, LEASE_MICROS)) {
        return false;
      }
    }
    return true;
  }

  /** The decision from permits held, else as the plan has it while the store is away. */
  Decision decideWithoutStore(String endpoint, long cost, int nodes, long nowMicros) {
    Decision never = Decisions.deniedForGood(this, endpoint, cost, nowMicros);
    if (never != null) {
      return never;
    }
    if (cost > 0 && takeAll(endpoint, cost)) {
      return Decisions.allowed(this, endpoint, false, nowMicros);
    }
    return switch (bound().plan.onStoreFailure()) {
      case DEGRADE -> standIn(nodes, nowMicros).decide(this, endpoint, cost, nowMicros);
      case OPEN -> {
        standIn(nodes, nowMicros).take(this, endpoint, cost, nowMicros);
        yield Decisions.allowed(this, endpoint, true, nowMicros);
      }
      // A peek takes no permit, so it needs none.
      case CLOSED ->
          cost == 0
              ? Decisions.allowed(this, endpoint, true, nowMicros)
              : Decisions.refused(this, endpoint, cost, nowMicros);
    };
  }

  private Outage standIn(int nodes, long nowMicros) {
    Aside aside = makeAside();
    if (aside.outage == null) {
      aside.outage = new Outage(this, nodes, nowMicros);
    }
    return aside.outage;
  }

  /** Units of a limit that are on their way to be charged, so that neither side shows them now. */
  long chargedInFlight(int limit) {
    InFlight inFlight = inFlight();
    return inFlight == null ? 0 : inFlight.charged(bound().limits[limit].limit().name());
  }

  boolean evicted() {
    return evicted;
  }

  boolean waiting() {
    return waiters() != null;
  }

  /** Whether nothing is held, owed, or under way. */
  boolean idle() {
    return inFlight() == null && waiters() == null && !leased() && !owing();
  }

  /**
   * Whether decisions on this key have to do without the store: it is known to be late, so that
   * waiting for it is no use, or back so shortly that it does not know what other nodes have spent.
   */
  boolean withoutStore(long nowMicros) {
    InFlight inFlight = inFlight();
    Outage outage = outage();
    return (inFlight != null && inFlight.overdue) || (outage != null && outage.rests(nowMicros));
  }

  /** Joins the callers who wait; false if there are too many. */
  boolean join(Waiter waiter) {
    Aside aside = makeAside();
    if (aside.waiters == null) {
      aside.waiters = new Waiters();
    }
    return aside.waiters.join(waiter);
  }

  /** The refill that waiters need; null while one is in flight. */
  InFlight refillForWaiters(LeaseCeiling ceilings, int nodes, long nowMicros) {
    Waiters waiting = waiters();
    return inFlight() != null || waiting == null
        ? null
        : fly(
            shards() == null
                ? Takes.forWaiters(this, waiting, ceilings, nodes, nowMicros)
                : ShardTakes.forWaiters(this, waiting, ceilings, nodes, nowMicros),
            waiting.first().sinceMicros(),
            nowMicros);
  }

  /** The refill ahead of need; null when none is due. */
  InFlight refillAhead(LeaseCeiling ceilings, int nodes, long nowMicros) {
    return inFlight() != null
            || waiters() != null
            || outage() != null
            || !leased(bound(), nowMicros)
        ? null
        : fly(
            shards() == null
                ? Takes.ahead(this, ceilings, nodes, nowMicros)
                : ShardTakes.ahead(this, ceilings, nodes, nowMicros),
            nowMicros,
            nowMicros);
  }

  /** The refill that settles what is owed; null when nothing is, or one is in flight. */
  InFlight refillToSettle(long nowMicros) {
    return inFlight() != null
        ? null
        : fly(
            shards() == null ? Takes.owed(this, nowMicros) : ShardTakes.owed(this, nowMicros),
            nowMicros,
            nowMicros);
  }

  /** The refill that charges what was spent without the store; null when nothing was. */
  InFlight refillToCharge(long nowMicros) {
    return indebted() ? refillToSettle(nowMicros) : null;
  }

  /**
   * The refill that tells the store what it told; null when it told nothing, or one is in flight.
   */
  InFlight refillToTell(long nowMicros) {
    return inFlight() != null
        ? null
        : fly(
            shards() == null ? Takes.told(this, nowMicros) : ShardTakes.told(this, nowMicros),
            nowMicros,
            nowMicros);
  }

  private InFlight fly(List<Take> takes, long wantedAtMicros, long nowMicros) {
    if (takes.isEmpty()) {
      return null;
    }
    InFlight flight = new InFlight(Takes.steps(key, takes), wantedAtMicros, nowMicros);
    makeAside().inFlight = flight;
    return flight;
  }

  /**
   * Takes in what the store granted and told by one of the refills of {@code flight}.
   *
   * @param restMicros as in {@link #back}
   */
  void answered(
      InFlight flight,
      Refill refill,
      Answered answer,
      Accounting accounting,
      long restMicros,
      long nowMicros,
      Consumer<Take> orphans) {
    land(flight.answered());
    back(restMicros, nowMicros);
    // Whether it was granted before or after is not known: losing permits is safe.
    if (!flight.forgotten) {
      deposit(refill.takes(), answer, accounting, flight.askedMicros, nowMicros, orphans);
    }
    heardOf(refill, true, nowMicros);
  }

  /** Nothing is in flight any more, if this was the last of the flight. */
  private void land(boolean last) {
    if (last) {
      makeAside().inFlight = null;
      tidyAside();
    }
  }

  /**
   * Ends what stands in for the store, which has answered: of a plan that is held to its limits
   * meanwhile, not before the other nodes have been answered as well.
   *
   * @param restMicros until they have, 0 or more
   */
  void back(long restMicros, long nowMicros) {
    Outage outage = outage();
    if (outage == null) {
      return;
    }
    boolean rests = bound().plan.onStoreFailure() == OnStoreFailure.DEGRADE;
    outage.back(rests ? restMicros : 0, nowMicros);
    if (outage.over(nowMicros)) {
      standIn(null);
    }
  }

  /** Takes back what a refill that came to nothing had with it, as in {@link #restore}. */
  void unavailable(
      InFlight flight, Refill refill, Unavailable outcome, long nowMicros, Consumer<Take> orphans) {
    land(flight.unavailable(outcome));
    Outage outage = outage();
    if (outage != null && flight.inVain()) {
      outage.awayAgain();
    }
    if (!flight.forgotten) {
      restore(refill.takes(), outcome.unsent(), orphans);
    }
    heardOf(refill, false, nowMicros);
  }

  private void heardOf(Refill refill, boolean answered, long nowMicros) {
    Shards shards = shards();
    if (shards != null && refill.shard().of() == shards.count()) {
      shards.heard(refill.shard(), answered, nowMicros);
    }
  }

  /** Whether a sub-counter that has not failed to answer of late might serve the waiters. */
  boolean servedElsewhere(long nowMicros) {
    Waiters waiting = waiters();
    return shards() != null
        && waiting != null
        && shards().present(waiting.first(), this, nowMicros);
  }

  /** Notes that the refill in flight is late. */
  void late() {
    InFlight inFlight = inFlight();
    if (inFlight != null) {
      inFlight.overdue = true;
    }
  }

  /**
   * What the store is asked for a decision that it makes by itself.
   *
   * @param forgets how often the key had been forgotten
   */
  record Asked(List<Take> takes, int forgets) {}

  /**
   * Asks for such a decision.
   *
   * @param shard which sub-counter, from 0, if the limits are divided
   */
  Asked ask(String endpoint, long cost, int shard, long nowMicros) {
    return new Asked(askStrictly(endpoint, cost, shard, nowMicros), forgets());
  }

  /** Whether what was asked for is told of the key as it is known here. */
  boolean remembers(Asked asked) {
    return asked.forgets == forgets();
  }

  /**
   * Answers waiters in order for as long as that can be done without the store.
   *
   * @param current the plan that now holds for one that held when the waiter came
   */
  void serve(
      UnaryOperator<BoundPlan> current,
      Accounting accounting,
      long nowMicros,
      List<Due> due,
      Consumer<Take> orphans) {
    serve(
        accounting,
        waiter -> {
          bind(current.apply(waiter.plan()), orphans);
          return decide(waiter.endpoint(), waiter.cost(), false, waiter.sinceMicros(), nowMicros);
        },
        due);
  }

  /**
   * Answers every waiter, without the store where it must be.
   *
   * @param current as in {@link #serve}
   */
  void serveWithoutStore(
      UnaryOperator<BoundPlan> current,
      Accounting accounting,
      int nodes,
      long nowMicros,
      List<Due> due,
      Consumer<Take> orphans) {
    if (!waiting()) {
      return;
    }
    // Permits of a window that is over admit nothing.
    expire(nowMicros);
    serve(
        accounting,
        waiter -> {
          bind(current.apply(waiter.plan()), orphans);
          return decideWithoutStore(waiter.endpoint(), waiter.cost(), nodes, nowMicros);
        },
        due);
  }

  private void serve(Accounting accounting, Function<Waiter, Decision> decide, List<Due> due) {
    Waiters waiting = waiters();
    if (waiting == null) {
      return;
    }
    waiting.serve(
        waiter -> {
          Decision decision = decide.apply(waiter);
          if (decision == null) {
            return null;
          }
          accounting.count(this, bound(), decision, waiter.cost());
          return new Due(waiter, bound(), decision);
        },
        due);
    if (waiting.isEmpty()) {
      makeAside().waiters = null;
      tidyAside();
    }
  }

  /** Has permits above the ceiling owed to the store: nobody waits for them any more. */
  void trim(LeaseCeiling ceilings, int nodes) {
    if (!waiting()) {
      trimTo(ceilings, nodes);
    }
  }

  /**
   * Takes the entry out of service if it can be spared; what it owes goes to {@code orphans}.
   *
   * @param indebted even if it has spent something that the store has yet to hear of
   */
  boolean evict(boolean indebted, Consumer<Take> orphans) {
    if (inFlight() != null || waiting() || evicted || (!indebted && indebted())) {
      return false;
    }
    settleAll(orphans);
    evicted = true;
    return true;
  }

  // ---- what few keys have

  private Waiters waiters() {
    Aside aside = aside();
    return aside == null ? null : aside.waiters;
  }

  private InFlight inFlight() {
    Aside aside = aside();
    return aside == null ? null : aside.inFlight;
  }

  private Outage outage() {
    Aside aside = aside();
    return aside == null ? null : aside.outage;
  }

  private int forgets() {
    Aside aside = aside();
    return aside == null ? 0 : aside.forgets;
  }

  /** From now on {@code outage} stands in for the store; null if it is there. */
  private void standIn(Outage outage) {
    makeAside().outage = outage;
    tidyAside();
  }
}
