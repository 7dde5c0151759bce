package dev.weir.decision;

import dev.weir.client.LimitStatus;
import dev.weir.config.Consumption;
import dev.weir.config.Limit;
import dev.weir.decision.LimitLease.Told;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.Take;
import dev.weir.lease.Tally;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The leases of all limits of the plan that a key is bound to, which begin and end together. It is
 * itself the lease of the plan's first limit, since most plans have one and a million keys would
 * pay for the indirection.
 *
 * <p>{@code stamp} is a sequence lock around what is written (odd while a write is under way;
 * Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012): a spender
 * that sees the same even stamp before its compare-and-set and after reading the level knows that
 * the numbers belong together and that the plan did not change underneath it. Who may write is told
 * in {@link KeyEntry}.
 */
abstract class PlanLeases extends KeyTallies {

  /** How long unspent permits stay, microseconds. */
  static final long LEASE_MICROS = 2_000_000;

  private static final VarHandle STAMP;

  static {
    try {
      STAMP = MethodHandles.lookup().findVarHandle(PlanLeases.class, "stamp", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile BoundPlan bound;
  private volatile long leaseUntilMicros;
  private volatile int stamp;

  PlanLeases(String key, BoundPlan plan) {
    super(key);
    this.bound = plan;
    assign(plan);
  }

  // ---- without the monitor

  final BoundPlan bound() {
    return bound;
  }

  /** Permits held of all limits together. */
  final long outstanding() {
    long sum = permits();
    Aside more = aside();
    if (more != null) {
      for (LimitLease lease : more.further) {
        sum += lease.permits();
      }
    }
    return sum;
  }

  /** Even, and the same as long as nothing is written. */
  final int stamp() {
    return stamp;
  }

  /** Whether permits held under {@code plan} may be spent. */
  final boolean leased(BoundPlan plan, long nowMicros) {
    return bound == plan && nowMicros < leaseUntilMicros;
  }

  final LimitLease lease(int limit) {
    return limit == 0 ? this : aside().further[limit - 1];
  }

  @Override
  final BoundLimit limit() {
    return bound.limits[0];
  }

  // ---- under the monitor

  /** The sub-counters of the limits; null if these are not divided. */
  final Shards shards() {
    Aside aside = aside();
    return aside == null ? null : aside.shards;
  }

  private void divide(Shards shards) {
    if (shards != null || shards() != null) {
      makeAside().shards = shards;
      tidyAside();
    }
  }

  /** Has decisions counted in an accounting window; a lease of another one ends. */
  final void enter(int window) {
    if (window != window()) {
      beginWrite();
      endLease();
      countIn(window);
      endWrite();
    }
  }

  /** The tally of {@code plan} in that window; null if it has yet to be opened. */
  final Tally tallyOf(String plan) {
    return bound.plan.name().equals(plan) ? tally() : otherTally(plan);
  }

  /** Has decisions under {@code plan} counted by {@code opened}. */
  final void countBy(String plan, Tally opened) {
    if (bound.plan.name().equals(plan)) {
      beginWrite();
      countBy(opened);
      endWrite();
    } else {
      countOther(plan, opened);
    }
  }

  /**
   * Puts the key under {@code plan}; permits held under other numbers are owed to the store.
   *
   * @return whether the numbers are others
   */
  final boolean assume(BoundPlan plan, Consumer<Take> orphans) {
    BoundPlan former = bound;
    if (former == plan) {
      return false;
    }
    boolean sameName = former.plan.name().equals(plan.plan.name());
    boolean sameLimits = former.plan.limits().equals(plan.plan.limits());
    if (sameName && sameLimits) {
      bound = plan;
      return false;
    }
    beginWrite();
    endLease();
    changePlan(former.plan.name(), plan.plan.name());
    if (sameLimits) {
      bound = plan;
      endWrite();
      return false;
    }
    List<LimitLease> formerLeases = new ArrayList<>();
    for (int i = 0; i < former.limits.length; i++) {
      LimitLease copy = new FurtherLease(former.limits[i]);
      copy.succeed(lease(i));
      formerLeases.add(copy);
    }
    Shards formerShards = shards();
    boolean dividedAlike = former.plan.shards() == plan.plan.shards();
    bound = plan;
    assign(plan);
    for (int f = 0; f < former.limits.length; f++) {
      LimitLease old = formerLeases.get(f);
      int i = indexOf(old.limit().limit().name());
      if (i < 0) {
        settle(f, formerShards, old, orphans);
      } else if (dividedAlike) {
        lease(i).succeed(old);
        if (formerShards != null) {
          shards().goOnFrom(formerShards, f, i);
        }
      } else {
        // Permits go back to where they came from; debts are charged to what counts from now on.
        long debt = old.debt();
        old.oweAtMost(0);
        settle(f, formerShards, old, orphans);
        old.owe(debt);
        lease(i).succeed(old);
        carry(i);
      }
    }
    endWrite();
    return true;
  }

  private static void settle(int limit, Shards of, LimitLease lease, Consumer<Take> orphans) {
    if (of != null) {
      of.settle(limit, lease, orphans);
    } else if (lease.owed != 0) {
      orphans.accept(Takes.settling(lease));
    }
  }

  /** Other counters count from now on, and are to be told what is known. */
  private void carry(int limit) {
    lease(limit).toldElsewhere();
    if (shards() != null) {
      shards().carry(limit, lease(limit));
    }
  }

  private void assign(BoundPlan plan) {
    begin();
    divide(Shards.of(plan));
    if (plan.limits.length > 1) {
      LimitLease[] further = new LimitLease[plan.limits.length - 1];
      for (int i = 1; i < plan.limits.length; i++) {
        further[i - 1] = new FurtherLease(plan.limits[i]);
      }
      makeAside().further = further;
    } else if (aside() != null) {
      aside().noFurther();
      tidyAside();
    }
  }

  /** Lets the lease end if its time is over; unspent permits are owed to the store. */
  final void expireLease(long nowMicros) {
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
  final void giveBackAll() {
    beginWrite();
    endLease();
    endWrite();
  }

  private void endLease() {
    for (int i = 0; i < bound.limits.length; i++) {
      lease(i).giveBack(0);
    }
    leaseUntilMicros = 0;
  }

  /** Drops what is held, owed and known. */
  final void clearAll() {
    beginWrite();
    for (int i = 0; i < bound.limits.length; i++) {
      lease(i).clear();
    }
    divide(Shards.of(bound));
    leaseUntilMicros = 0;
    endWrite();
  }

  /** Whether the lease is under way. */
  final boolean leased() {
    return leaseUntilMicros != 0;
  }

  /** When the lease ends; 0 if none is under way. */
  final long leaseUntilMicros() {
    return leaseUntilMicros;
  }

  /** Whether the store has yet to hear of something. */
  final boolean owing() {
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).owed != 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether something was spent without the store that it has yet to hear of. */
  final boolean indebted() {
    for (int i = 0; i < bound.limits.length; i++) {
      if (lease(i).debt() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Spends {@code cost} permits of each limit that applies, or none. */
  final boolean takeAll(String endpoint, long cost) {
    BoundPlan plan = bound;
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

  /**
   * Takes what is owed along, and asks for {@code cost}. Permits that are held go back: they might
   * be those that it needs.
   *
   * @param shard which sub-counter, from 0, if the limits are divided
   */
  final List<Take> askStrictly(String endpoint, long cost, int shard, long nowMicros) {
    BoundPlan plan = bound;
    List<Take> takes = new ArrayList<>(plan.limits.length);
    beginWrite();
    if (shards() != null) {
      takes.addAll(ShardTakes.strictly(this, endpoint, cost, shard, nowMicros));
      endWrite();
      return takes;
    }
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        lease(i).giveBack(0);
        takes.add(Takes.of(lease(i), cost, cost, nowMicros));
      }
    }
    endWrite();
    return takes;
  }

  /** Takes in what the store granted and told. */
  final void deposit(
      List<Take> takes,
      Answered answer,
      Accounting accounting,
      long askedMicros,
      long nowMicros,
      Consumer<Take> orphans) {
    int window = accounting.window(key, answer.storeMicros());
    enter(window);
    beginWrite();
    boolean granted = false;
    for (int t = 0; t < takes.size(); t++) {
      Take take = takes.get(t);
      Level level = answer.levels().get(t);
      Told told = told(answer, level, askedMicros, nowMicros);
      int i = indexOf(take.limit());
      if (i >= 0) {
        LimitLease lease = lease(i);
        learn(i, take, level, window, told);
        if (counter(i, take).limit().limit().equals(take.limit())) {
          lease.deposit(level.granted());
          if (level.granted() < take.ask()) {
            lease.size = lease.size.shrunk();
          }
          granted |= level.granted() > 0;
        } else {
          // Granted under numbers that no longer hold.
          lease.owed += level.granted();
        }
      } else if (level.granted() > 0) {
        orphans.accept(Takes.giving(take.limit(), level.granted(), answer, level));
      }
    }
    accounting.authorized(this, bound.plan.name(), answer);
    if (granted) {
      long left = accounting.leftMicros(key, answer.storeMicros());
      beginLease(Math.min(nowMicros + LEASE_MICROS, askedMicros + left));
    }
    endWrite();
  }

  /** Takes in a word on what a take was of; what it granted is held from there from now on. */
  private void learn(int limit, Take take, Level level, int window, Told told) {
    LimitLease counter = counter(limit, take);
    counter.heard(window, level.granted(), level.authorized());
    counter.learn(take.limit().algorithm(), told);
    Shards shards = shards();
    if (shards != null) {
      LimitPart part = shards.part(limit, take.limit().shard());
      part.asked(told.askedMicros());
      part.authorized(window, level.authorized());
      shards.gather(limit, lease(limit), told);
      part.granted(level.granted());
    }
  }

  /** What counts the limit where {@code take} is from. */
  private LimitLease counter(int limit, Take take) {
    Shards shards = shards();
    return shards == null ? lease(limit) : shards.part(limit, take.limit().shard());
  }

  private void beginLease(long untilMicros) {
    long until = untilMicros;
    for (int i = 0; i < bound.limits.length; i++) {
      LimitLease lease = lease(i);
      if (lease.limit().limit().leased() && lease.permits() > 0) {
        until = Math.min(until, lease.windowUntilMicros());
      }
    }
    leaseUntilMicros = until;
  }

  /**
   * Takes in what the store told with a decision that it made by itself.
   *
   * @param unwanted whether what it granted came too late, and goes back
   */
  final void learn(
      List<Take> takes,
      Answered answer,
      Accounting accounting,
      long askedMicros,
      long nowMicros,
      boolean unwanted,
      Consumer<Take> orphans) {
    int window = accounting.window(key, answer.storeMicros());
    beginWrite();
    for (int t = 0; t < takes.size(); t++) {
      Take take = takes.get(t);
      Level level = answer.levels().get(t);
      long back = unwanted ? level.granted() : 0;
      int i = indexOf(take.limit());
      if (i >= 0) {
        learn(i, take, level, window, told(answer, level, askedMicros, nowMicros));
        lease(i).owed += back;
      } else if (back > 0) {
        orphans.accept(Takes.giving(take.limit(), back, answer, level));
      }
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
   * Takes back what takes that came to nothing had with them. Whether the store carried them out
   * may be unknown; then returns are lost, since a permit must never be there twice, and charges
   * are made again, since a unit must never be spent for nothing.
   *
   * @param unmoved whether it is known that it did not
   */
  final void restore(List<Take> takes, boolean unmoved, Consumer<Take> orphans) {
    for (Take take : takes) {
      int i = indexOf(take.limit());
      long returned = unmoved ? take.returned() : 0;
      if (i < 0) {
        Takes.unsettled(take, unmoved).ifPresent(orphans);
      } else {
        lease(i).owed += returned - take.charged();
        if (shards() != null) {
          shards().part(i, take.limit().shard()).granted(returned);
        }
      }
    }
  }

  /** Has permits above the ceiling owed to the store. */
  final void trimTo(LeaseCeiling ceilings, int nodes) {
    beginWrite();
    for (int i = 0; i < bound.limits.length; i++) {
      LimitLease lease = lease(i);
      if (lease.permits() > 0) {
        lease.giveBack(ceilings.of(lease.limit().limit(), nodes));
      }
    }
    endWrite();
  }

  /** Ends the lease; all that the store has yet to hear of goes to {@code orphans}. */
  final void settleAll(Consumer<Take> orphans) {
    giveBackAll();
    for (int i = 0; i < bound.limits.length; i++) {
      settle(i, shards(), lease(i), orphans);
    }
  }

  /**
   * Units that all nodes were granted in a window, as far as known; 0 if limits are not divided.
   */
  final long authorized(int window) {
    return shards() == null ? 0 : shards().authorized(window);
  }

  /** Permits of a limit of {@code plan} that its level counts as used, and that are not. */
  final long unspent(BoundPlan plan, int limit) {
    int i = indexOf(plan.limits[limit].limit());
    return i < 0 ? 0 : lease(i).permits() + lease(i).owed;
  }

  /** A limit of {@code plan} as last told, or untouched if nothing was told. */
  final LimitStatus knownStatus(BoundPlan plan, int limit, long nowMicros) {
    int i = indexOf(plan.limits[limit].limit());
    return i < 0
        ? LimitLease.status(plan.limits[limit], Consumption.NONE, 0, 0)
        : lease(i).status(nowMicros);
  }

  /** Where the limit stands that counts by the same counters; below 0 if none does. */
  private int indexOf(Limit counted) {
    return bound.plan.shards() == counted.shard().of() ? indexOf(counted.name()) : -1;
  }

  private int indexOf(String limitName) {
    BoundPlan plan = bound;
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
