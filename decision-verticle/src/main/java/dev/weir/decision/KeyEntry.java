package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import dev.weir.config.Consumption;
import dev.weir.config.Limit;
import dev.weir.config.OnStoreFailure;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.Take;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * All that a node holds and knows of one key: the lease of each limit of its plan, the refill under
 * way, and the callers who wait for it. It is itself the lease of the plan's first limit, since
 * most plans have one and a million keys would pay for the indirection.
 *
 * <p><b>Concurrency.</b> Event loops spend permits by compare-and-set, without a lock: {@link
 * LimitLease#take}. Everything else is written under this object's monitor, which is held for a few
 * field accesses and never across a call out. {@code stamp} is a sequence lock around those writes
 * (odd while one is under way; Boehm, "Can seqlocks get along with programming language memory
 * models?", MSPC 2012): a spender that sees the same even stamp before its compare-and-set and
 * after reading the level knows that the numbers belong together and that the plan did not change
 * underneath it. Otherwise it settles the matter under the monitor.
 *
 * <p><b>Waiters.</b> At most one refill is in flight. Who cannot be answered joins {@code waiters}
 * and is answered exactly once, in order: by permits of the grant, by a denial that the store's
 * level proves, or, once the refill is overdue or the store unavailable, as the plan has it then,
 * usually from the {@link Outage}. While anyone waits, nobody spends past them.
 *
 * <p><b>Permits</b> are at any moment in one place: spendable here, owed to the store, or on their
 * way to it in the refill in flight. A refill whose outcome is unknown takes its returns with it:
 * losing permits is safe, doubling them is not.
 */
final class KeyEntry extends LimitLease {

  /** How long unspent permits stay, microseconds. */
  static final long LEASE_MICROS = 2_000_000;

  /** Callers of one key that may wait at once; the next one is answered without the store. */
  static final int MAX_WAITERS = 10_000;

  /** When to try again with a store that is away, which nobody can tell. */
  private static final long REFUSED_MILLIS = 1_000;

  /** A refill starts in the background when this part of the lease is left. */
  private static final int LOW_WATER_PART = 8;

  private static final VarHandle STAMP;

  static {
    try {
      STAMP = MethodHandles.lookup().findVarHandle(KeyEntry.class, "stamp", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final LimitLease[] NONE = {};
  private static final LimitLease UNKNOWN = new LimitLease();

  final String key;

  /** The next entry of the same chain; written by {@link KeyTable} alone. */
  volatile KeyEntry next;

  /** Whether a decision was made here since the eviction's hand last passed. */
  boolean touched = true;

  /** Whether the entry stands in the queue of entries to be looked after. */
  boolean tended;

  private volatile BoundPlan bound;
  private volatile ArrayDeque<Waiter> waiters;
  private volatile long leaseUntilMicros;
  private volatile int stamp;
  private LimitLease[] others = NONE;
  private InFlight inFlight;
  private Outage outage;
  private boolean evicted;

  /** How often the key was forgotten while it was here. */
  private int forgets;

  KeyEntry(String key, BoundPlan plan) {
    this.key = key;
    this.bound = plan;
    assign(plan);
  }

  /** A caller who waits for a refill. */
  record Waiter(
      BoundPlan plan, String endpoint, long cost, long sinceMicros, Consumer<Decision> answer) {}

  /** An answer by a plan that is due to a waiter, to be delivered without the monitor. */
  record Due(Waiter waiter, BoundPlan plan, Decision decision) {
    void deliver(Decision concluded) {
      waiter.answer().accept(concluded);
    }
  }

  /** A refill under way. */
  static final class InFlight {
    final Refill refill;
    final long wantedAtMicros;
    private final long askedMicros;
    private boolean overdue;

    /** Whether the store has forgotten the key since, so that its answer tells of nothing. */
    private boolean forgotten;

    InFlight(Refill refill, long wantedAtMicros, long askedMicros) {
      this.refill = refill;
      this.wantedAtMicros = wantedAtMicros;
      this.askedMicros = askedMicros;
    }

    private Told told(Answered answer, Level level, long nowMicros) {
      return KeyEntry.told(answer, level, askedMicros, nowMicros);
    }

    private boolean returns() {
      return refill.takes().stream().anyMatch(take -> take.returned() > 0);
    }
  }

  // ---- without the monitor

  BoundPlan bound() {
    return bound;
  }

  /** Permits held of all limits together. */
  long outstanding() {
    long sum = permits();
    for (LimitLease lease : others) {
      sum += lease.permits();
    }
    return sum;
  }

  /**
   * Allows from the permits held under a {@link BoundPlan#single} plan, or returns null when that
   * takes more than a compare-and-set. The cost is above 0.
   */
  Decision spend(BoundPlan plan, long cost, long nowMicros) {
    int before = stamp;
    if ((before & 1) != 0 || bound != plan || waiters != null || nowMicros >= leaseUntilMicros) {
      return null;
    }
    if (!take(cost)) {
      return null;
    }
    Decision decision = allowed(plan, "", nowMicros);
    VarHandle.acquireFence();
    return stamp == before ? decision : allowedAfterAll(nowMicros);
  }

  /** The permits are spent, but something was written meanwhile: read the numbers in peace. */
  private synchronized Decision allowedAfterAll(long nowMicros) {
    return allowed(bound, "", nowMicros);
  }

  // ---- under the monitor

  /** Puts the key under {@code plan}; permits held under other numbers are owed to the store. */
  void bind(BoundPlan plan, Consumer<Take> orphans) {
    BoundPlan former = bound;
    if (former == plan) {
      return;
    }
    if (former.plan.limits().equals(plan.plan.limits())) {
      bound = plan;
      return;
    }
    beginWrite();
    endLease();
    List<LimitLease> formerLeases = new ArrayList<>();
    for (int i = 0; i < former.limits.length; i++) {
      LimitLease copy = new LimitLease();
      copy.succeed(former.limits[i], lease(i));
      formerLeases.add(copy);
    }
    bound = plan;
    outage = null;
    assign(plan);
    for (LimitLease old : formerLeases) {
      int i = indexOf(plan, old.limit.limit().name());
      if (i >= 0) {
        lease(i).succeed(plan.limits[i], old);
      } else if (old.owed != 0) {
        orphans.accept(settling(old));
      }
    }
    endWrite();
  }

  private void assign(BoundPlan plan) {
    others = plan.limits.length == 1 ? NONE : new LimitLease[plan.limits.length - 1];
    succeed(plan.limits[0], UNKNOWN);
    for (int i = 1; i < plan.limits.length; i++) {
      others[i - 1] = new LimitLease();
      others[i - 1].limit = plan.limits[i];
    }
  }

  /**
   * Lets the lease end if its time is over; unspent permits are owed to the store. What is owed
   * already may have ceased to count.
   */
  void expire(long nowMicros) {
    if (outage != null) {
      outage.advance(nowMicros);
    }
    if (leaseUntilMicros != 0 && nowMicros >= leaseUntilMicros) {
      beginWrite();
      for (int i = 0; i < bound.limits.length; i++) {
        LimitLease lease = lease(i);
        if (lease.giveBack(0)) {
          lease.size = lease.size.shrunk();
        }
      }
      leaseUntilMicros = 0;
      endWrite();
    }
  }

  /** Has all permits owed to the store, whatever time is left to the lease. */
  void giveBackAll() {
    beginWrite();
    endLease();
    endWrite();
  }

  /** Drops what is held, owed and known of the key: the store has forgotten it. */
  void forget() {
    beginWrite();
    for (int i = 0; i < bound.limits.length; i++) {
      lease(i).clear();
    }
    leaseUntilMicros = 0;
    outage = null;
    forgets++;
    if (inFlight != null) {
      inFlight.forgotten = true;
    }
    endWrite();
  }

  private void endLease() {
    for (int i = 0; i < bound.limits.length; i++) {
      lease(i).giveBack(0);
    }
    leaseUntilMicros = 0;
  }

  /**
   * The decision on a request of the plan that the key is bound to, as far as it can be told
   * without the store; null when it cannot.
   */
  Decision decide(String endpoint, long cost, long nowMicros) {
    BoundPlan plan = bound;
    Decision never = denyForGood(plan, endpoint, cost, nowMicros);
    if (never != null) {
      return never;
    }
    if (cost == 0) {
      return known(plan, endpoint, nowMicros) ? allowed(plan, endpoint, nowMicros) : null;
    }
    if (takeAll(plan, endpoint, cost)) {
      return allowed(plan, endpoint, nowMicros);
    }
    // Permits on their way back make room that the level does not show yet.
    if (inFlight != null && inFlight.returns()) {
      return null;
    }
    // What is spent on credit denies nothing before the store has heard of it.
    if (outage != null && plan.plan.onStoreFailure() == OnStoreFailure.OPEN) {
      return null;
    }
    return denyByLevel(plan, endpoint, cost, nowMicros);
  }

  /** The denial of a cost that some limit can never hold; null if all can. */
  private Decision denyForGood(BoundPlan plan, String endpoint, long cost, long nowMicros) {
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && cost > plan.limits[i].quota()) {
        return denied(
            i,
            endpoint,
            Decision.Reason.COST_EXCEEDS_LIMIT,
            Decision.Denied.NEVER,
            false,
            nowMicros);
      }
    }
    return null;
  }

  private Decision denyByLevel(BoundPlan plan, String endpoint, long cost, long nowMicros) {
    int last = -1;
    long longest = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        long micros = lease(i).microsUntil(cost, nowMicros);
        if (micros > longest) {
          longest = micros;
          last = i;
        }
      }
    }
    return last < 0
        ? null
        : denied(
            last,
            endpoint,
            Decision.Reason.LIMIT,
            LimitLease.ceilMillis(longest),
            false,
            nowMicros);
  }

  boolean evicted() {
    return evicted;
  }

  boolean waiting() {
    return waiters != null;
  }

  /** Whether the store is known to be late for this key, so that waiting for it is no use. */
  boolean overdue() {
    return inFlight != null && inFlight.overdue;
  }

  /** Joins the callers who wait; false if there are too many. */
  boolean join(Waiter waiter) {
    ArrayDeque<Waiter> queue = waiters;
    if (queue == null) {
      queue = new ArrayDeque<>(4);
      waiters = queue;
    }
    return queue.size() < MAX_WAITERS && queue.add(waiter);
  }

  /**
   * The refill that the first waiter needs, sized to serve those behind it as well; null while one
   * is in flight.
   */
  InFlight refillForWaiters(LeaseCeiling ceilings, int nodes, long nowMicros) {
    ArrayDeque<Waiter> queue = waiters;
    if (inFlight != null || queue == null) {
      return null;
    }
    Waiter head = queue.peekFirst();
    BoundPlan plan = bound;
    List<Take> takes = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, head.endpoint())) {
        LimitLease lease = lease(i);
        long held = lease.permits();
        long need = Math.max(0, head.cost() - held);
        long demand = demand(queue, plan, i) - held;
        // Without demand it is a peek that waits, and a peek leases nothing.
        long ask =
            demand <= 0 ? 0 : Math.max(demand, nextLease(lease, held, ceilings, nodes, nowMicros));
        takes.add(take(lease, need, Math.max(need, Math.min(ask, lease.limit.quota())), nowMicros));
      }
    }
    return fly(takes, head.sinceMicros(), nowMicros);
  }

  private static long demand(ArrayDeque<Waiter> queue, BoundPlan plan, int limit) {
    long sum = 0;
    for (Waiter waiter : queue) {
      if (waiter.plan() == plan && plan.applies(limit, waiter.endpoint())) {
        // At most MAX_WAITERS costs of at most 10^12: no overflow.
        sum += waiter.cost();
      }
    }
    return sum;
  }

  /**
   * Whether a lease is low enough to refill it ahead of need. Only a hint when asked without the
   * monitor, and then only for a {@link BoundPlan#single} plan.
   */
  boolean low(BoundPlan plan) {
    if (inFlight != null) {
      return false;
    }
    if (plan.single) {
      return low(this);
    }
    for (int i = 0; i < plan.limits.length; i++) {
      if (low(lease(i))) {
        return true;
      }
    }
    return false;
  }

  private static boolean low(LimitLease lease) {
    return lease.permits() < lease.size.permits() / LOW_WATER_PART;
  }

  /** The refill ahead of need; null when none is due. */
  InFlight refillAhead(LeaseCeiling ceilings, int nodes, long nowMicros) {
    BoundPlan plan = bound;
    if (inFlight != null || waiters != null || nowMicros >= leaseUntilMicros) {
      return null;
    }
    List<Take> takes = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      LimitLease lease = lease(i);
      long held = lease.permits();
      if (low(lease)) {
        long ask = nextLease(lease, held, ceilings, nodes, nowMicros);
        if (ask > 0) {
          takes.add(take(lease, 0, ask, nowMicros));
        }
      }
    }
    return takes.isEmpty() ? null : fly(takes, nowMicros, nowMicros);
  }

  /** The refill that settles what is owed; null when nothing is, or one is in flight. */
  InFlight refillToSettle(long nowMicros) {
    BoundPlan plan = bound;
    if (inFlight != null) {
      return null;
    }
    List<Take> takes = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      if (lease(i).owed != 0) {
        takes.add(take(lease(i), 0, 0, nowMicros));
      }
    }
    return takes.isEmpty() ? null : fly(takes, nowMicros, nowMicros);
  }

  /** The refill that charges what was spent without the store; null when nothing was. */
  InFlight refillToCharge(long nowMicros) {
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).owed < 0) {
        return refillToSettle(nowMicros);
      }
    }
    return null;
  }

  /**
   * Permits that the next lease should bring, given what is held; sizes up if this one was short.
   */
  private long nextLease(
      LimitLease lease, long held, LeaseCeiling ceilings, int nodes, long nowMicros) {
    long ceiling = ceilings.of(lease.limit.limit(), nodes);
    if (ceiling < 1) {
      return 0;
    }
    if (nowMicros < leaseUntilMicros) {
      lease.size = lease.size.exhausted(ceiling);
    }
    return Math.max(0, Math.min(lease.size.permits(), ceiling - held));
  }

  private static Take take(LimitLease lease, long need, long ask, long nowMicros) {
    return take(lease, need, ask, lease.lastTold(nowMicros));
  }

  private static Take take(LimitLease lease, long need, long ask, Take.Told told) {
    long owed = lease.owed;
    lease.owed = 0;
    return new Take(
        lease.limit.limit(),
        Math.max(0, owed),
        lease.windowEndMicros(),
        Math.max(0, -owed),
        need,
        ask,
        told);
  }

  /** Of a limit that is not looked after any more. */
  private static Take settling(LimitLease lease) {
    return take(lease, 0, 0, Take.Told.NOTHING);
  }

  private InFlight fly(List<Take> takes, long wantedAtMicros, long nowMicros) {
    inFlight = new InFlight(new Refill(key, takes), wantedAtMicros, nowMicros);
    return inFlight;
  }

  /**
   * Takes in what the store granted and told.
   *
   * @param window the accounting window of the answer
   */
  void answered(
      InFlight flight, Answered answer, int window, long nowMicros, Consumer<Take> orphans) {
    inFlight = null;
    outage = null;
    if (flight.forgotten) {
      // Whether it was granted before or after is not known: losing permits is safe.
      return;
    }
    beginWrite();
    List<Take> takes = flight.refill.takes();
    boolean granted = false;
    for (int t = 0; t < takes.size(); t++) {
      Take take = takes.get(t);
      Level level = answer.levels().get(t);
      int i = indexOf(bound, take.limit().name());
      if (i >= 0) {
        lease(i).heard(window, level.granted(), level.authorized());
      }
      if (i >= 0 && bound.limits[i].limit().equals(take.limit())) {
        LimitLease lease = lease(i);
        lease.deposit(level.granted(), flight.told(answer, level, nowMicros));
        if (level.granted() < take.ask()) {
          lease.size = lease.size.shrunk();
        }
        granted |= level.granted() > 0;
      } else if (i >= 0) {
        // Granted under numbers that no longer hold.
        lease(i).learn(take.limit().algorithm(), flight.told(answer, level, nowMicros));
        lease(i).owed += level.granted();
      } else if (level.granted() > 0) {
        orphans.accept(giving(take.limit(), level.granted(), answer, level));
      }
    }
    if (granted) {
      long until = nowMicros + LEASE_MICROS;
      for (int i = 0; i < bound.limits.length; i++) {
        LimitLease lease = lease(i);
        if (lease.limit.limit().leased() && lease.permits() > 0) {
          until = Math.min(until, lease.windowUntilMicros());
        }
      }
      leaseUntilMicros = until;
    }
    endWrite();
  }

  private static Told told(Answered answer, Level level, long askedMicros, long nowMicros) {
    return new Told(
        level.consumption(),
        level.reserved(),
        askedMicros,
        nowMicros,
        answer.storeMicros(),
        answer.epoch());
  }

  /**
   * What the store is asked for a decision that it makes by itself.
   *
   * @param forgets how often the key had been forgotten
   */
  record Asked(List<Take> takes, int forgets) {}

  /** Asks for such a decision. Permits that are held go back: they might be those that it needs. */
  Asked ask(String endpoint, long cost, long nowMicros) {
    BoundPlan plan = bound;
    List<Take> takes = new ArrayList<>(plan.limits.length);
    beginWrite();
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        lease(i).giveBack(0);
        takes.add(take(lease(i), cost, cost, nowMicros));
      }
    }
    endWrite();
    return new Asked(takes, forgets);
  }

  /**
   * Takes in what the store told with a decision that it made by itself.
   *
   * @param window the accounting window of the answer
   * @param unwanted whether what it granted came too late, and goes back
   */
  void told(
      Asked asked,
      Answered answer,
      int window,
      long askedMicros,
      long nowMicros,
      boolean unwanted,
      Consumer<Take> orphans) {
    if (asked.forgets != forgets) {
      return;
    }
    beginWrite();
    for (int t = 0; t < asked.takes.size(); t++) {
      Take take = asked.takes.get(t);
      Level level = answer.levels().get(t);
      long back = unwanted ? level.granted() : 0;
      int i = indexOf(bound, take.limit().name());
      if (i >= 0) {
        lease(i).heard(window, level.granted(), level.authorized());
        lease(i).learn(take.limit().algorithm(), told(answer, level, askedMicros, nowMicros));
        lease(i).owed += back;
      } else if (back > 0) {
        orphans.accept(giving(take.limit(), back, answer, level));
      }
    }
    endWrite();
  }

  private static Take giving(Limit limit, long permits, Answered answer, Level level) {
    long grantedIn = answer.storeMicros() + level.consumption().leftMicros();
    return new Take(limit, permits, grantedIn, 0, 0, 0);
  }

  /**
   * Takes back what a refill that came to nothing had with it. Whether the store carried it out may
   * be unknown; then returns are lost, since a permit must never be there twice, and charges are
   * made again, since a unit must never be spent for nothing.
   */
  void unavailable(InFlight flight, boolean unsent, Consumer<Take> orphans) {
    inFlight = null;
    if (!flight.forgotten) {
      restore(flight.refill.takes(), unsent, orphans);
    }
  }

  /**
   * Takes back what a decision of the store had with it that moved nothing.
   *
   * @param known whether that is known
   */
  void restore(Asked asked, boolean known, Consumer<Take> orphans) {
    if (asked.forgets == forgets) {
      restore(asked.takes, known, orphans);
    }
  }

  private void restore(List<Take> takes, boolean unsent, Consumer<Take> orphans) {
    for (Take take : takes) {
      int i = indexOf(bound, take.limit().name());
      if (i < 0) {
        unsettled(take, unsent).ifPresent(orphans);
      } else {
        lease(i).owed += (unsent ? take.returned() : 0) - take.charged();
      }
    }
  }

  /** What is left to do of a take that came to nothing, as in {@link #unavailable}. */
  static Optional<Take> unsettled(Take take, boolean unsent) {
    long returned = unsent ? take.returned() : 0;
    return returned == 0 && take.charged() == 0
        ? Optional.empty()
        : Optional.of(new Take(take.limit(), returned, take.grantedIn(), take.charged(), 0, 0));
  }

  /** Notes that the refill in flight is late. */
  void late() {
    if (inFlight != null) {
      inFlight.overdue = true;
    }
  }

  /**
   * Answers waiters in order for as long as that can be done without the store.
   *
   * @param current the plan that now holds for one that held when the waiter came
   */
  void serve(
      UnaryOperator<BoundPlan> current, long nowMicros, List<Due> due, Consumer<Take> orphans) {
    ArrayDeque<Waiter> queue = waiters;
    while (queue != null) {
      Waiter head = queue.peekFirst();
      if (head == null) {
        waiters = null;
        return;
      }
      bind(current.apply(head.plan()), orphans);
      Decision decision = decide(head.endpoint(), head.cost(), nowMicros);
      if (decision == null) {
        return;
      }
      queue.removeFirst();
      due.add(new Due(head, bound, decision));
    }
  }

  /**
   * Answers every waiter, without the store where it must be.
   *
   * @param current as in {@link #serve}
   */
  void serveWithoutStore(
      UnaryOperator<BoundPlan> current,
      int nodes,
      long nowMicros,
      List<Due> due,
      Consumer<Take> orphans) {
    ArrayDeque<Waiter> queue = waiters;
    if (queue == null) {
      return;
    }
    // Permits of a window that is over admit nothing.
    expire(nowMicros);
    for (Waiter waiter : queue) {
      bind(current.apply(waiter.plan()), orphans);
      Decision decision = decideWithoutStore(waiter.endpoint(), waiter.cost(), nodes, nowMicros);
      due.add(new Due(waiter, bound, decision));
    }
    waiters = null;
  }

  /** The decision from permits held, else as the plan has it while the store is away. */
  Decision decideWithoutStore(String endpoint, long cost, int nodes, long nowMicros) {
    BoundPlan plan = bound;
    Decision never = denyForGood(plan, endpoint, cost, nowMicros);
    if (never != null) {
      return never;
    }
    if (cost > 0 && takeAll(plan, endpoint, cost)) {
      return allowed(plan, endpoint, nowMicros);
    }
    return switch (plan.plan.onStoreFailure()) {
      case DEGRADE -> standIn(nodes, nowMicros).decide(this, endpoint, cost, nowMicros);
      case OPEN -> {
        standIn(nodes, nowMicros).take(this, endpoint, cost, nowMicros);
        yield allowed(plan, endpoint, true, nowMicros);
      }
      // A peek takes no permit, so it needs none.
      case CLOSED ->
          cost == 0
              ? allowed(plan, endpoint, true, nowMicros)
              : refuse(plan, endpoint, cost, nowMicros);
    };
  }

  private Outage standIn(int nodes, long nowMicros) {
    if (outage == null) {
      outage = new Outage(this, nodes, nowMicros);
    }
    return outage;
  }

  private Decision refuse(BoundPlan plan, String endpoint, long cost, long nowMicros) {
    int lacking = 0;
    while (!plan.applies(lacking, endpoint) || lease(lacking).permits() >= cost) {
      lacking++;
    }
    return denied(lacking, endpoint, Decision.Reason.STORE_AWAY, REFUSED_MILLIS, true, nowMicros);
  }

  /** Units of a limit that are on their way to be charged, so that neither side shows them now. */
  long chargedInFlight(int limit) {
    if (inFlight == null) {
      return 0;
    }
    String name = bound.limits[limit].limit().name();
    return inFlight.refill.takes().stream()
        .filter(take -> take.limit().name().equals(name))
        .mapToLong(Take::charged)
        .sum();
  }

  /** Has permits above the ceiling owed to the store: nobody waits for them any more. */
  void trim(LeaseCeiling ceilings, int nodes) {
    if (waiters != null) {
      return;
    }
    beginWrite();
    for (int i = 0; i < bound.limits.length; i++) {
      LimitLease lease = lease(i);
      if (lease.permits() > 0) {
        lease.giveBack(ceilings.of(lease.limit.limit(), nodes));
      }
    }
    endWrite();
  }

  /** Whether the store has yet to hear of something, or the lease to end. */
  boolean needsTending() {
    if (leaseUntilMicros != 0) {
      return true;
    }
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).owed != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes the entry out of service unless that would lose something; what it owes goes to {@code
   * orphans}.
   */
  boolean evict(Consumer<Take> orphans) {
    if (inFlight != null || waiters != null || evicted) {
      return false;
    }
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).owed < 0) {
        return false;
      }
    }
    beginWrite();
    endLease();
    evicted = true;
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).owed != 0) {
        orphans.accept(settling(lease(i)));
      }
    }
    endWrite();
    return true;
  }

  /** Permits of a limit of {@code plan} that its level counts as used, and that are not. */
  long unspent(BoundPlan plan, int limit) {
    int i = indexOf(bound, plan.limits[limit].limit().name());
    return i < 0 ? 0 : lease(i).permits() + lease(i).owed;
  }

  /** A limit of {@code plan} as last told, or untouched if nothing was told. */
  LimitStatus knownStatus(BoundPlan plan, int limit, long nowMicros) {
    int i = indexOf(bound, plan.limits[limit].limit().name());
    return i < 0
        ? LimitLease.status(plan.limits[limit], Consumption.NONE, 0, 0)
        : lease(i).status(lease(i).permits(), nowMicros);
  }

  LimitLease lease(int limit) {
    return limit == 0 ? this : others[limit - 1];
  }

  // ---- decisions

  private boolean takeAll(BoundPlan plan, String endpoint, long cost) {
    if (plan.single) {
      return take(cost);
    }
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && !lease(i).take(cost)) {
        untakeAll(plan, endpoint, cost, i);
        return false;
      }
    }
    return true;
  }

  private void untakeAll(BoundPlan plan, String endpoint, long cost, int limits) {
    for (int i = 0; i < limits; i++) {
      if (plan.applies(i, endpoint)) {
        lease(i).untake(cost);
      }
    }
  }

  /** Whether the store's last word is fresh enough for a peek. */
  private boolean known(BoundPlan plan, String endpoint, long nowMicros) {
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && !lease(i).isFresh(nowMicros, LEASE_MICROS)) {
        return false;
      }
    }
    return true;
  }

  private Decision allowed(BoundPlan plan, String endpoint, long nowMicros) {
    return allowed(plan, endpoint, false, nowMicros);
  }

  private Decision allowed(BoundPlan plan, String endpoint, boolean degraded, long nowMicros) {
    if (plan.single) {
      LimitStatus status = status(permits(), nowMicros);
      return new Decision.Allowed(
          key, plan.plan.name(), status, List.of(status), staleMillis(nowMicros), degraded);
    }
    List<LimitStatus> statuses = new ArrayList<>(plan.limits.length);
    LimitStatus tightest = null;
    long stale = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        LimitLease lease = lease(i);
        LimitStatus status = lease.status(lease.permits(), nowMicros);
        statuses.add(status);
        if (tightest == null || status.remaining() < tightest.remaining()) {
          tightest = status;
          stale = lease.staleMillis(nowMicros);
        }
      }
    }
    if (tightest == null) {
      // No limit applies to the endpoint: the first one stands for the plan, untouched.
      tightest = status(permits(), nowMicros);
      statuses.add(tightest);
    }
    return new Decision.Allowed(
        key, plan.plan.name(), tightest, List.copyOf(statuses), stale, degraded);
  }

  private Decision denied(
      int limit,
      String endpoint,
      Decision.Reason reason,
      long retryAfterMillis,
      boolean degraded,
      long nowMicros) {
    BoundPlan plan = bound;
    List<LimitStatus> statuses = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        statuses.add(lease(i).status(lease(i).permits(), nowMicros));
      }
    }
    return new Decision.Denied(
        key,
        plan.plan.name(),
        lease(limit).status(lease(limit).permits(), nowMicros),
        List.copyOf(statuses),
        lease(limit).staleMillis(nowMicros),
        degraded,
        reason,
        retryAfterMillis);
  }

  private static int indexOf(BoundPlan plan, String limitName) {
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.limits[i].limit().name().equals(limitName)) {
        return i;
      }
    }
    return -1;
  }

  // ---- the sequence lock

  private void beginWrite() {
    STAMP.setVolatile(this, stamp + 1);
    VarHandle.storeStoreFence();
  }

  private void endWrite() {
    STAMP.setVolatile(this, stamp + 1);
  }
}
