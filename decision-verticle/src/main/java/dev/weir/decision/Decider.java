package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.Clock;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Shard;
import dev.weir.decision.Waiters.Waiter;
import dev.weir.lease.AccountingWindow;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Purpose;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.Refills;
import dev.weir.lease.StoreClock;
import dev.weir.lease.Take;
import dev.weir.lease.Usage;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Decides, for all event loops of a node: at once from permits and knowledge held here, or through
 * a refill. Plain Java; time, refills and configuration come from outside.
 *
 * <p>Safe to use from any thread. An answer that had to wait is delivered on the thread that
 * brought the refill's outcome.
 */
public final class Decider {

  private final Clock clock;
  private final InForce inForce;
  private final HotKeys hotKeys = new HotKeys();
  private final PlanDemand demand = new PlanDemand();
  private final DecisionCounts decisions;
  private final LeaseCounts leases;
  private final Accounting accounting;
  private final StoreCalls calls;
  private final Orphans orphans;
  private final Entries entries;
  private final StoreDecisions storeDecisions;

  /**
   * @param places of keys held at once, 1 or more: see {@link KeyRoom}
   * @param usage where all that is decided is counted
   */
  public Decider(
      Clock clock,
      Refills refills,
      LeaseCeiling ceilings,
      int places,
      ConfigSnapshot snapshot,
      StoreClock storeClock,
      Usage usage) {
    this.clock = clock;
    this.inForce = new InForce(ceilings, snapshot, demand);
    this.decisions = new DecisionCounts(clock, hotKeys);
    this.leases = new LeaseCounts(clock, hotKeys);
    this.accounting =
        new Accounting(usage, storeClock, new AccountingWindow(ceilings.windowMicros()));
    this.calls = new StoreCalls(refills, decisions::degradedCount);
    this.orphans = new Orphans(clock, calls);
    this.entries =
        new Entries(clock, inForce, calls, orphans, accounting, decisions, leases, places);
    this.storeDecisions =
        new StoreDecisions(clock, inForce, entries, calls, accounting, decisions, leases);
  }

  /**
   * The decision, if permits held suffice for it; null if it takes {@link #decideOrWait}.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  Decision decideAtOnce(CheckRequest request) {
    return decideAtOnce(request.key(), request.endpoint(), request.cost(), request.plan());
  }

  /**
   * The same of a request that consists of these, which have yet to be looked at: null if the key
   * is not known here.
   */
  Decision decideAtOnce(String key, String endpoint, long asked, String planName) {
    KeyEntry entry = entries.get(key);
    if (entry == null) {
      return null;
    }
    BoundConfig current = inForce.config();
    BoundPlan plan = InForce.planOf(current, entry, key, planName);
    if (!(plan.single || plan.unlimited())) {
      return null;
    }
    long cost = current.cost(endpoint, asked);
    Decision decision = plan.unlimited() ? unlimited(entry, plan, cost) : leased(entry, plan, cost);
    if (decision == null) {
      return null;
    }
    if (!entry.touched) {
      entry.touched = true;
    }
    return decisions.count(decision);
  }

  private Decision unlimited(KeyEntry entry, BoundPlan plan, long cost) {
    return cost == 0 || entry.count(plan, cost, accounting.windowNow(entry.key))
        ? plan.allowUnlimited(entry.key)
        : null;
  }

  private Decision leased(KeyEntry entry, BoundPlan plan, long cost) {
    if (cost == 0) {
      return null;
    }
    long now = clock.roughMicros();
    Decision decision = entry.spend(plan, cost, accounting, now);
    if (decision != null && entry.low(plan)) {
      entries.refillAhead(entry, clock.micros());
    }
    return decision;
  }

  /**
   * The decision, or null when it has to wait for a refill; {@code answer} will then get it.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  Decision decideOrWait(CheckRequest request, Consumer<Decision> answer) {
    BoundConfig current = inForce.config();
    BoundPlan plan = planOf(current, request);
    long cost = current.cost(request);
    if (plan.unlimited() && cost == 0) {
      return decisions.count(plan.allowUnlimited(request.key()));
    }
    long now = clock.micros();
    Waiter asker = new Waiter(plan, request.endpoint(), cost, now, answer);
    Turn turn =
        entries.with(
            request.key(),
            plan,
            now,
            (entry, left) ->
                plan.unlimited() ? unlimited(entry, asker, left) : turn(entry, asker, left));
    entries.submit(turn.entry, turn.flight);
    return turn.decision == null ? null : decisions.conclude(plan, turn.decision);
  }

  /**
   * What comes of a request at once.
   *
   * @param flight to be sent off, or null
   * @param decision null when it has to wait
   */
  private record Turn(KeyEntry entry, InFlight flight, Decision decision) {}

  private Turn unlimited(KeyEntry entry, Waiter asker, Consumer<Take> left) {
    BoundPlan bound = entry.bound();
    // A limited plan that still holds may be asked for again, and what is known of it is needed
    // then.
    if (bound.unlimited() || (bound.epoch != asker.plan().epoch && entry.idle())) {
      entry.bind(asker.plan(), left);
    }
    return made(entry, null, asker, asker.plan().allowUnlimited(entry.key));
  }

  private Turn turn(KeyEntry entry, Waiter asker, Consumer<Take> left) {
    long now = asker.sinceMicros();
    entry.bind(asker.plan(), left);
    Decision decision =
        entry.waiting()
            ? null
            : entry.decide(asker.endpoint(), asker.cost(), calls.away(), now, now);
    if (decision != null) {
      boolean low = entry.low(asker.plan());
      InFlight ahead = low ? entry.refillAhead(inForce.ceilings(), inForce.nodes(), now) : null;
      return made(entry, ahead, asker, decision);
    }
    if (entry.withoutStore(now) || !entry.join(asker)) {
      int nodes = inForce.nodes();
      return made(
          entry, null, asker, entry.decideWithoutStore(asker.endpoint(), asker.cost(), nodes, now));
    }
    return new Turn(entry, entry.refillForWaiters(inForce.ceilings(), inForce.nodes(), now), null);
  }

  private Turn made(KeyEntry entry, InFlight ahead, Waiter asker, Decision decision) {
    accounting.count(entry, asker.plan(), decision, asker.cost());
    return new Turn(entry, ahead, decision);
  }

  /**
   * Whether permits of {@code request} can be held: it costs something, and a limit applies to it.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  boolean isLimited(CheckRequest request) {
    BoundConfig current = inForce.config();
    BoundPlan plan = planOf(current, request);
    return current.cost(request) > 0 && plan.appliesTo(request.endpoint(), limit -> true);
  }

  /**
   * Whether every decision on {@code request} is the store's, since a limit that applies to it is
   * not leased.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  boolean isDecidedByStore(CheckRequest request) {
    BoundConfig current = inForce.config();
    BoundPlan plan = planOf(current, request);
    return current.cost(request) > 0
        && plan.appliesTo(request.endpoint(), limit -> !limit.leased());
  }

  /** The clock of this node. */
  Clock clock() {
    return clock;
  }

  /** Permits that {@code request} costs. */
  long cost(CheckRequest request) {
    return inForce.config().cost(request);
  }

  /**
   * Has the store decide on {@code request}, which {@link #isLimited}, in a step of its own.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  void decideInStore(
      CheckRequest request, Purpose.Decide purpose, Consumer<StoreDecision.Outcome> answer) {
    BoundConfig current = inForce.config();
    BoundPlan plan = planOf(current, request);
    storeDecisions.decide(request, plan, current.cost(request), purpose, answer);
  }

  /**
   * Ends a reservation that was made under {@code plan}.
   *
   * @param shard that holds it
   * @param answer gets what came of it, unavailable if that is overdue
   */
  void settle(
      String key, Shard shard, String plan, Purpose.Settle settle, Consumer<RefillOutcome> answer) {
    storeDecisions.settle(key, shard, plan, settle, answer);
  }

  /**
   * Looks up the plan of {@code request} and does nothing else.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  void requirePlan(CheckRequest request) {
    BoundConfig current = inForce.config();
    // Any key has one if there is a default.
    if (!request.plan().isEmpty() || current.snapshot().defaultPlan().isEmpty()) {
      planOf(current, request);
    }
  }

  private BoundPlan planOf(BoundConfig config, CheckRequest request) {
    return InForce.planOf(config, entries.get(request.key()), request.key(), request.plan());
  }

  /**
   * Ends some of the leases whose time is over: those of a few milliseconds. To be called many
   * times a second, by one thread, and each time until there are none.
   *
   * @return false if there were none
   */
  boolean endLeases() {
    return entries.endLeases();
  }

  /** Tells the store what it has yet to hear. To be called a few times a second. */
  void tendKeys() {
    entries.tend();
  }

  /** The configuration in force. */
  ConfigSnapshot snapshot() {
    return inForce.config().snapshot();
  }

  /** Puts a new configuration in force; permits held under old numbers go back. */
  public void configure(ConfigSnapshot snapshot) {
    inForce.configure(snapshot);
    entries.rebind();
  }

  /**
   * Drops what is held, owed and known of {@code key}, to be called when the store has forgotten
   * it. Of a refill that is under way nothing is taken in.
   */
  public void forget(String key) {
    entries.forget(key);
  }

  /**
   * Has the store told what this node knows of every key, to be called on all nodes when the store
   * may have lost its data. What it was told of before counts as used there, once.
   *
   * @param loss what it is known by; another call for the same one does nothing
   * @param foundHere whether this node found it itself, which counts even if it was told before
   */
  void carryOver(String loss, boolean foundHere) {
    entries.carryOver(loss, foundHere);
  }

  /** Takes in the number of live nodes, 1 or more. */
  public void nodes(int count) {
    inForce.nodes(count);
  }

  /**
   * Gives all permits back to the store; the refills that do so are under way when this returns.
   */
  void giveAllBack() {
    entries.giveAllBack();
  }

  /**
   * Whether the store has been told all there is to tell: no lease, no debt, no refill under way.
   */
  boolean settled() {
    return entries.settled() && calls.noneUnderWay() && orphans.isEmpty();
  }

  /** Permits leased and not yet spent, of all limits of all keys. */
  long outstanding() {
    return entries.outstanding();
  }

  int keys() {
    return entries.size();
  }

  /** What it has decided so far. */
  DecisionCounts decisions() {
    return decisions;
  }

  /** Whether some keys, at least, have to be decided without the store. */
  boolean degraded() {
    return calls.degraded();
  }

  /** Steps that the store should have heard of and never will. */
  long forgottenCount() {
    return orphans.forgottenCount();
  }

  /** Units of decisions that nothing has counted: see {@link Accounting#uncounted}. */
  long uncountedUnits() {
    return accounting.uncounted();
  }

  /** Permits that the store has granted to this node so far. */
  long leasedCount() {
    return leases.leasedCount();
  }

  /** The {@code most} keys that took the most permits lately, and that were denied the most. */
  HotKeyCounts hotKeys(int most) {
    return hotKeys.top(most, clock.micros());
  }

  /**
   * Permits that requests have asked for so far, granted or not, by plan, while regions divide
   * limits; see {@link PlanDemand}.
   */
  public Map<String, Long> demand() {
    return demand.totals();
  }

  /** Tells {@code sizes} of every lease from now on, permits. */
  void onLease(LongConsumer sizes) {
    leases.onLease(sizes);
  }

  /**
   * Reads a key's limits from the store.
   *
   * @throws dev.weir.client.CheckRefusedException with code 403 if the key has no plan
   */
  void inspect(String key, Consumer<KeyLimits> answer) {
    BoundPlan plan = inForce.config().planOf(key);
    if (plan.unlimited()) {
      answer.accept(new KeyLimits(key, plan.plan, List.of(), 0, false));
      return;
    }
    List<Refill> looks = looks(key, plan);
    KeyInspection inspection = new KeyInspection(entries, clock, key, plan, looks.size(), answer);
    long now = clock.micros();
    looks.forEach(look -> calls.look(look, now, inspection));
  }

  /** A look at each counter of {@code key}. */
  private static List<Refill> looks(String key, BoundPlan plan) {
    return Arrays.stream(plan.counters)
        .map(limits -> Arrays.stream(limits).map(limit -> Take.peek(limit.limit())).toList())
        .map(peeks -> new Refill(key, peeks))
        .toList();
  }
}
