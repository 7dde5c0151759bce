package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import dev.weir.client.LimitStatus;
import dev.weir.config.Clock;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Consumption;
import dev.weir.decision.KeyEntry.Asked;
import dev.weir.decision.KeyEntry.Due;
import dev.weir.decision.KeyEntry.InFlight;
import dev.weir.decision.KeyEntry.Waiter;
import dev.weir.lease.AccountingWindow;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Purpose;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.Refills;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
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

  /**
   * Steps of limits that their keys do not have any more, kept while the store is away; more are
   * counted and dropped. Only changes of plans during an outage make them.
   */
  static final int MAX_UNSETTLED = 10_000;

  private final Clock clock;
  private final Refills refills;
  private final LeaseCeiling ceilings;
  private final AccountingWindow accounting;
  private final KeyTable keys;
  private final AtomicLong epochs = new AtomicLong();
  private final LongAdder allowed = new LongAdder();
  private final LongAdder denied = new LongAdder();
  private final LongAdder degradedAllowed = new LongAdder();
  private final LongAdder degradedDenied = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder wouldDeny = new LongAdder();
  private final LongAdder leased = new LongAdder();
  private final HotKeys hotKeys = new HotKeys();

  /** Entries with a lease that will end, or with something that the store has yet to hear. */
  private final ConcurrentLinkedQueue<KeyEntry> tended = new ConcurrentLinkedQueue<>();

  private final AtomicInteger tendedCount = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();

  /** What came to nothing and nobody else remembers: charges, and returns that were not sent. */
  private final BlockingQueue<Refill> unsettled = new LinkedBlockingQueue<>(MAX_UNSETTLED);

  private final LongAdder forgotten = new LongAdder();

  /** Whether the last refill came back without an answer. */
  private volatile boolean storeAway;

  private final StoreAbsence absence = new StoreAbsence(this::degradedCount);

  private volatile LongConsumer leaseSizes = granted -> {};
  private volatile BoundConfig config;
  private volatile int nodes = 1;

  /**
   * @param maxKeys keys held at once, 1 or more
   */
  public Decider(
      Clock clock, Refills refills, LeaseCeiling ceilings, int maxKeys, ConfigSnapshot snapshot) {
    this.clock = clock;
    this.refills = refills;
    this.ceilings = ceilings;
    this.accounting = new AccountingWindow(ceilings.windowMicros());
    this.keys = new KeyTable(maxKeys, this::evict);
    this.config = new BoundConfig(snapshot, epochs.incrementAndGet());
  }

  /**
   * The decision, if permits held suffice for it; null if it takes {@link #decideOrWait}.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  Decision decideAtOnce(CheckRequest request) {
    KeyEntry entry = keys.get(request.key());
    BoundConfig current = config;
    BoundPlan plan = planOf(current, entry, request);
    if (entry == null || !plan.single) {
      return plan.unlimited() ? count(plan.allowUnlimited(request.key())) : null;
    }
    long cost = current.cost(request);
    if (cost == 0) {
      return null;
    }
    long now = clock.micros();
    Decision decision = entry.spend(plan, cost, now);
    if (decision == null) {
      return null;
    }
    if (!entry.touched) {
      entry.touched = true;
    }
    if (entry.low(plan)) {
      refillAhead(entry, now);
    }
    return count(decision);
  }

  /**
   * The decision, or null when it has to wait for a refill; {@code answer} will then get it.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  Decision decideOrWait(CheckRequest request, Consumer<Decision> answer) {
    BoundConfig current = config;
    BoundPlan plan = planOf(current, keys.get(request.key()), request);
    if (plan.unlimited()) {
      return count(plan.allowUnlimited(request.key()));
    }
    return decideUnderMonitor(request, plan, current.cost(request), clock.micros(), answer);
  }

  /**
   * Whether permits of {@code request} can be held: it costs something, and a limit applies to it.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  boolean isLimited(CheckRequest request) {
    BoundConfig current = config;
    BoundPlan plan = planOf(current, keys.get(request.key()), request);
    return current.cost(request) > 0 && plan.appliesTo(request.endpoint(), limit -> true);
  }

  /**
   * Whether every decision on {@code request} is the store's, since a limit that applies to it is
   * not leased.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  boolean isDecidedByStore(CheckRequest request) {
    BoundConfig current = config;
    BoundPlan plan = planOf(current, keys.get(request.key()), request);
    return current.cost(request) > 0
        && plan.appliesTo(request.endpoint(), limit -> !limit.leased());
  }

  /** The clock of this node. */
  Clock clock() {
    return clock;
  }

  /** Permits that {@code request} costs. */
  long cost(CheckRequest request) {
    return config.cost(request);
  }

  /**
   * Has the store decide on {@code request}, which {@link #isLimited}, in a step of its own.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  void decideInStore(
      CheckRequest request, Purpose.Decide purpose, Consumer<StoreDecision.Outcome> answer) {
    BoundConfig current = config;
    BoundPlan plan = planOf(current, keys.get(request.key()), request);
    long cost = current.cost(request);
    long now = clock.micros();
    Asked asked =
        storeNode.withEntry(
            request.key(),
            plan,
            now,
            (entry, orphans) -> {
              entry.bind(plan, orphans);
              return entry.ask(request.endpoint(), cost, now);
            });
    inFlight.incrementAndGet();
    refills.submit(
        new Refill(request.key(), asked.takes(), purpose),
        now,
        new StoreDecision(storeNode, request, plan, cost, purpose, asked, now, answer));
  }

  /** Ends a reservation; {@code answer} gets what came of it, unavailable if that is overdue. */
  void settle(String key, Purpose.Settle settle, Consumer<RefillOutcome> answer) {
    AtomicBoolean answered = new AtomicBoolean();
    inFlight.incrementAndGet();
    refills.submit(
        new Refill(key, List.of(), settle),
        clock.micros(),
        new Refills.Listener() {
          @Override
          public void onOutcome(RefillOutcome outcome) {
            inFlight.decrementAndGet();
            if (!answered.getAndSet(true)) {
              answer.accept(outcome);
            }
          }

          @Override
          public void onOverdue() {
            if (!answered.getAndSet(true)) {
              answer.accept(new Unavailable("overdue", false));
            }
          }
        });
  }

  /** What decisions of the store need of this node. */
  private final StoreDecision.Node storeNode =
      new StoreDecision.Node() {
        @Override
        public <T> T withEntry(
            String key, BoundPlan plan, long now, StoreDecision.EntryWork<T> work) {
          while (true) {
            KeyEntry entry = keys.getOrMake(key, made -> new KeyEntry(made, plan));
            List<Take> orphans = new ArrayList<>(0);
            T result;
            synchronized (entry) {
              if (entry.evicted()) {
                continue;
              }
              entry.touched = true;
              entry.expire(now);
              result = work.apply(entry, orphans::add);
              tend(entry);
            }
            Decider.this.settle(key, orphans, now);
            return result;
          }
        }

        @Override
        public Decision conclude(BoundPlan plan, Decision decision) {
          return Decider.this.conclude(plan, decision);
        }

        @Override
        public void taken(String key, long permits) {
          hotKeys.taken(key, permits, clock.micros());
        }

        @Override
        public void release(String key, String reservation) {
          settle(key, new Purpose.Settle(reservation, 0), outcome -> {});
        }

        @Override
        public void landed(RefillOutcome outcome) {
          heard(outcome, clock.micros());
          inFlight.decrementAndGet();
        }

        @Override
        public int window(String key, long storeMicros) {
          return (int) accounting.index(key, storeMicros);
        }

        @Override
        public int nodes() {
          return nodes;
        }

        @Override
        public long micros() {
          return clock.micros();
        }
      };

  /**
   * Looks up the plan of {@code request} and does nothing else.
   *
   * @throws dev.weir.client.CheckRefusedException if the key or the plan is unknown
   */
  void requirePlan(CheckRequest request) {
    planOf(config, keys.get(request.key()), request);
  }

  private static BoundPlan planOf(BoundConfig config, KeyEntry entry, CheckRequest request) {
    String name = request.plan();
    if (entry != null) {
      // Also lest a key with numbers of its own has them worked out again for every request.
      BoundPlan bound = entry.bound();
      if (bound.epoch == config.epoch()
          && (name.isEmpty() ? !bound.named : bound.named && bound.plan.name().equals(name))) {
        return bound;
      }
    }
    return name.isEmpty() ? config.planOf(request.key()) : config.named(name, request.key());
  }

  private Decision decideUnderMonitor(
      CheckRequest request, BoundPlan plan, long cost, long now, Consumer<Decision> answer) {
    while (true) {
      KeyEntry entry = keys.getOrMake(request.key(), key -> new KeyEntry(key, plan));
      List<Take> orphans = new ArrayList<>(0);
      Decision decision = null;
      InFlight flight = null;
      synchronized (entry) {
        if (entry.evicted()) {
          continue;
        }
        entry.touched = true;
        entry.bind(plan, orphans::add);
        entry.expire(now);
        if (!entry.waiting()) {
          decision = entry.decide(request.endpoint(), cost, now);
        }
        if (decision != null) {
          if (entry.low(plan)) {
            flight = entry.refillAhead(ceilings, nodes, now);
          }
        } else if (entry.overdue()
            || !entry.join(new Waiter(plan, request.endpoint(), cost, now, answer))) {
          decision = entry.decideWithoutStore(request.endpoint(), cost, nodes, now);
        } else {
          flight = entry.refillForWaiters(ceilings, nodes, now);
        }
        tend(entry);
      }
      settle(request.key(), orphans, now);
      submit(entry, flight);
      return decision == null ? null : conclude(plan, decision);
    }
  }

  private void refillAhead(KeyEntry entry, long now) {
    InFlight flight;
    synchronized (entry) {
      flight = entry.refillAhead(ceilings, nodes, now);
    }
    submit(entry, flight);
  }

  private void submit(KeyEntry entry, InFlight flight) {
    if (flight != null) {
      inFlight.incrementAndGet();
      refills.submit(flight.refill, flight.wantedAtMicros, new Landing(entry, flight));
    }
  }

  /** Waits for the outcome of a refill and brings it home. */
  private final class Landing implements Refills.Listener {
    private final KeyEntry entry;
    private final InFlight flight;

    Landing(KeyEntry entry, InFlight flight) {
      this.entry = entry;
      this.flight = flight;
    }

    @Override
    public void onOutcome(RefillOutcome outcome) {
      long now = clock.micros();
      List<Due> due = new ArrayList<>();
      List<Take> orphans = new ArrayList<>(0);
      InFlight next;
      heard(outcome, now);
      synchronized (entry) {
        if (outcome instanceof Answered answer) {
          int window = storeNode.window(entry.key, answer.storeMicros());
          entry.answered(flight, answer, window, now, orphans::add);
          entry.serve(plan -> current(plan, entry), now, due, orphans::add);
          if (entry.waiting()) {
            next = entry.refillForWaiters(ceilings, nodes, now);
          } else {
            rebind(entry, orphans::add);
            entry.expire(now);
            entry.trim(ceilings, nodes);
            next = entry.refillToCharge(now);
          }
        } else {
          entry.unavailable(flight, ((Unavailable) outcome).unsent(), orphans::add);
          entry.serveWithoutStore(plan -> current(plan, entry), nodes, now, due, orphans::add);
          next = null;
        }
        tend(entry);
      }
      settle(entry.key, orphans, now);
      submit(entry, next);
      inFlight.decrementAndGet();
      if (outcome instanceof Answered answer) {
        noteTaken(entry.key, flight.refill.takes(), answer, now);
      }
      deliver(due);
    }

    @Override
    public void onOverdue() {
      long now = clock.micros();
      List<Due> due = new ArrayList<>();
      List<Take> orphans = new ArrayList<>(0);
      absence.failed("no answer in time", now);
      synchronized (entry) {
        entry.late();
        entry.serveWithoutStore(plan -> current(plan, entry), nodes, now, due, orphans::add);
        tend(entry);
      }
      settle(entry.key, orphans, now);
      deliver(due);
    }
  }

  private void heard(RefillOutcome outcome, long now) {
    if (outcome instanceof Unavailable unavailable) {
      storeAway = true;
      absence.failed(unavailable.reason(), now);
    } else {
      storeAway = false;
      absence.answered(now);
    }
  }

  private void noteTaken(String key, List<Take> takes, Answered answer, long now) {
    long most = 0;
    for (int i = 0; i < takes.size(); i++) {
      long granted = answer.levels().get(i).granted();
      if (granted > 0) {
        leased.add(granted);
        leaseSizes.accept(granted);
      }
      most = Math.max(most, granted + takes.get(i).charged());
    }
    hotKeys.taken(key, most, now);
  }

  private void deliver(List<Due> due) {
    for (Due each : due) {
      each.deliver(conclude(each.plan(), each.decision()));
    }
  }

  /** What the caller gets, counted. */
  private Decision conclude(BoundPlan plan, Decision decision) {
    if (decision.allowed()) {
      return count(decision);
    }
    Decision told = plan.told(decision);
    if (told.allowed()) {
      wouldDeny.increment();
    } else {
      hotKeys.denied(decision.key(), clock.micros());
    }
    return count(told);
  }

  private Decision count(Decision decision) {
    if (decision.allowed()) {
      (decision.degraded() ? degradedAllowed : allowed).increment();
    } else if (decision instanceof Denied noted && noted.reason() == Reason.STORE_AWAY) {
      refused.increment();
    } else {
      (decision.degraded() ? degradedDenied : denied).increment();
    }
    return decision;
  }

  /** Puts the entry among those that are looked after, under its monitor. */
  private void tend(KeyEntry entry) {
    if (!entry.tended && entry.needsTending()) {
      entry.tended = true;
      tended.add(entry);
      tendedCount.incrementAndGet();
    }
  }

  /** Returns and charges of limits that the key's plan does not have any more. */
  private void settle(String key, List<Take> orphans, long now) {
    if (!orphans.isEmpty()) {
      settle(new Refill(key, orphans), now);
    }
  }

  private void settle(Refill refill, long now) {
    inFlight.incrementAndGet();
    refills.submit(refill, now, new Farewell(refill));
  }

  /** Waits for the outcome of what no entry holds any more. */
  private final class Farewell implements Refills.Listener {
    private final Refill refill;

    Farewell(Refill refill) {
      this.refill = refill;
    }

    @Override
    public void onOutcome(RefillOutcome outcome) {
      heard(outcome, clock.micros());
      if (outcome instanceof Unavailable unavailable) {
        List<Take> left =
            refill.takes().stream()
                .flatMap(take -> KeyEntry.unsettled(take, unavailable.unsent()).stream())
                .toList();
        if (!left.isEmpty() && !unsettled.offer(new Refill(refill.key(), left))) {
          forgotten.increment();
        }
      }
      inFlight.decrementAndGet();
    }

    @Override
    public void onOverdue() {}
  }

  /**
   * Ends leases whose time is over and tells the store what it has yet to hear. To be called a few
   * times a second.
   */
  void tendKeys() {
    tendKeys(false);
  }

  private void tendKeys(boolean giveAllBack) {
    long now = clock.micros();
    boolean probing = storeAway;
    boolean probed = false;
    absence.look(now);
    for (int left = unsettled.size(); left > 0 && !(probing && probed); left--) {
      Refill refill = unsettled.poll();
      if (refill != null) {
        settle(refill, now);
        probed = true;
      }
    }
    for (int left = tendedCount.get(); left > 0; left--) {
      KeyEntry entry = tended.poll();
      if (entry == null) {
        return;
      }
      tendedCount.decrementAndGet();
      List<Take> orphans = new ArrayList<>(0);
      InFlight flight;
      synchronized (entry) {
        entry.tended = false;
        rebind(entry, orphans::add);
        entry.expire(now);
        if (giveAllBack) {
          entry.giveBackAll();
        }
        // While the store is away one key asks for all, lest every key ask in vain each time.
        flight = probing && probed ? null : entry.refillToSettle(now);
        tend(entry);
      }
      probed |= flight != null;
      settle(entry.key, orphans, now);
      submit(entry, flight);
    }
  }

  /** Applies a change of the configuration to a key that may hold permits under the old one. */
  private void rebind(KeyEntry entry, Consumer<Take> orphans) {
    BoundPlan bound = entry.bound();
    BoundPlan current = current(bound, entry);
    if (current != bound) {
      entry.bind(current, orphans);
    } else if (bound.epoch != config.epoch()) {
      // Nothing limits the key any more.
      entry.giveBackAll();
    }
  }

  /** The plan that now holds where {@code bound} did; itself if nothing does. */
  private BoundPlan current(BoundPlan bound, KeyEntry entry) {
    BoundConfig current = config;
    return bound.epoch == current.epoch()
        ? bound
        : current.successorOf(bound, entry.key).orElse(bound);
  }

  /** The configuration in force. */
  ConfigSnapshot snapshot() {
    return config.snapshot();
  }

  /** Puts a new configuration in force; permits held under old numbers go back. */
  public void configure(ConfigSnapshot snapshot) {
    config = new BoundConfig(snapshot, epochs.incrementAndGet());
    tendKeys();
  }

  /**
   * Drops what is held, owed and known of {@code key}, to be called when the store has forgotten
   * it. Of a refill that is under way nothing is taken in.
   */
  public void forget(String key) {
    KeyEntry entry = keys.get(key);
    if (entry != null) {
      synchronized (entry) {
        entry.forget();
      }
    }
  }

  /** Takes in the number of live nodes, 1 or more. */
  public void nodes(int count) {
    nodes = count;
  }

  /**
   * Gives all permits back to the store; the refills that do so are under way when this returns.
   */
  void giveAllBack() {
    tendKeys(true);
  }

  /**
   * Whether the store has been told all there is to tell: no lease, no debt, no refill under way.
   */
  boolean settled() {
    return tendedCount.get() == 0 && inFlight.get() == 0 && unsettled.isEmpty();
  }

  /** Permits leased and not yet spent, of all limits of all keys. */
  long outstanding() {
    return tended.stream().mapToLong(KeyEntry::outstanding).sum();
  }

  int keys() {
    return keys.size();
  }

  long allowedCount() {
    return allowed.sum();
  }

  long deniedCount() {
    return denied.sum();
  }

  long degradedAllowedCount() {
    return degradedAllowed.sum();
  }

  long degradedDeniedCount() {
    return degradedDenied.sum();
  }

  /** Requests refused since the store was away and their plan closed. */
  long refusedCount() {
    return refused.sum();
  }

  private long degradedCount() {
    return degradedAllowed.sum() + degradedDenied.sum() + refused.sum();
  }

  /** Whether some keys, at least, have to be decided without the store. */
  boolean degraded() {
    return absence.lasting();
  }

  /** Steps that the store should have heard of and never will. */
  long forgottenCount() {
    return forgotten.sum();
  }

  /** Requests allowed by a shadow plan that would have been denied without it. */
  long wouldDenyCount() {
    return wouldDeny.sum();
  }

  /** Permits that the store has granted to this node so far. */
  long leasedCount() {
    return leased.sum();
  }

  /** The {@code most} keys that took the most permits lately, and that were denied the most. */
  HotKeyCounts hotKeys(int most) {
    return hotKeys.top(most, clock.micros());
  }

  /** Tells {@code sizes} of every lease from now on, permits. */
  void onLease(LongConsumer sizes) {
    leaseSizes = sizes;
  }

  private boolean evict(KeyEntry entry) {
    List<Take> orphans = new ArrayList<>(0);
    boolean evicted;
    synchronized (entry) {
      evicted = entry.evict(orphans::add);
    }
    settle(entry.key, orphans, clock.micros());
    return evicted;
  }

  /**
   * Reads a key's limits from the store.
   *
   * @throws dev.weir.client.CheckRefusedException with code 403 if the key has no plan
   */
  void inspect(String key, Consumer<KeyLimits> answer) {
    BoundPlan plan = config.planOf(key);
    if (plan.unlimited()) {
      answer.accept(new KeyLimits(key, plan.plan, List.of(), 0, false));
      return;
    }
    List<Take> peeks = plan.plan.limits().stream().map(Take::peek).toList();
    refills.submit(new Refill(key, peeks), clock.micros(), new Inspection(key, plan, answer));
  }

  /** Waits for the levels of a key that is looked at. */
  private final class Inspection implements Refills.Listener {
    private final String key;
    private final BoundPlan plan;
    private final Consumer<KeyLimits> answer;
    private final AtomicInteger answered = new AtomicInteger();

    Inspection(String key, BoundPlan plan, Consumer<KeyLimits> answer) {
      this.key = key;
      this.plan = plan;
      this.answer = answer;
    }

    @Override
    public void onOutcome(RefillOutcome outcome) {
      if (outcome instanceof Answered levels) {
        if (answered.getAndIncrement() == 0) {
          answer.accept(fromStore(levels));
        }
      } else {
        onOverdue();
      }
    }

    @Override
    public void onOverdue() {
      if (answered.getAndIncrement() == 0) {
        answer.accept(fromMemory());
      }
    }

    private KeyLimits fromStore(Answered answer) {
      List<LimitStatus> statuses = new ArrayList<>();
      KeyEntry entry = keys.get(key);
      for (int i = 0; i < plan.limits.length; i++) {
        Consumption told = answer.levels().get(i).consumption();
        statuses.add(LimitLease.status(plan.limits[i], told, unspent(entry, i), 0));
      }
      return new KeyLimits(key, plan.plan, statuses, 0, false);
    }

    private long unspent(KeyEntry entry, int limit) {
      if (entry == null) {
        return 0;
      }
      synchronized (entry) {
        return entry.unspent(plan, limit);
      }
    }

    private KeyLimits fromMemory() {
      long now = clock.micros();
      KeyEntry entry = keys.get(key);
      List<LimitStatus> statuses = new ArrayList<>();
      long stale = 0;
      if (entry == null) {
        for (BoundLimit limit : plan.limits) {
          statuses.add(LimitLease.status(limit, Consumption.NONE, 0, 0));
        }
      } else {
        synchronized (entry) {
          for (int i = 0; i < plan.limits.length; i++) {
            statuses.add(entry.knownStatus(plan, i, now));
          }
          stale = entry.staleMillis(now);
        }
      }
      return new KeyLimits(key, plan.plan, statuses, stale, true);
    }
  }
}
