package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.config.Shard;
import dev.weir.decision.KeyEntry.Asked;
import dev.weir.lease.Purpose;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Repeated;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.RefillOutcome.UsedOtherwise;
import dev.weir.lease.Refills;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One decision that the store makes by itself, in a step of its own: of a reservation, which it
 * holds, or of a check that it makes once for all nodes. Permits that the node holds go back with
 * the same step, so that they deny nothing.
 *
 * <p>The asker is answered once: by the outcome, or without the store when that is overdue or
 * unavailable. What then comes late is given back.
 */
final class StoreDecision implements Refills.Listener {

  /**
   * What the store holds.
   *
   * @param id that it knows it by
   * @param shard where
   */
  record Held(String id, Shard shard) {}

  /** What the asker is told. */
  sealed interface Outcome {

    /**
     * It is decided.
     *
     * @param reservation by which the store holds what was granted, if it does
     */
    record Decided(Decision decision, Optional<Held> reservation) implements Outcome {}

    /** The same id was used for another request; nothing was spent. */
    record Refused() implements Outcome {}
  }

  private final StoreDecisions node;
  private final CheckRequest request;
  private final BoundPlan plan;
  private final long cost;
  private final Purpose.Decide purpose;
  private final long wantedAtMicros;
  private final Consumer<Outcome> answer;
  private final AtomicBoolean answered = new AtomicBoolean();

  /** The sub-counter that is asked first. */
  private final int first;

  /** What those said that were asked, in that order, and had too little. */
  private final List<Answered> denials = new ArrayList<>();

  /** For the limits of {@code plan} that apply to the request, in its order. */
  private Asked asked;

  StoreDecision(
      StoreDecisions node,
      CheckRequest request,
      BoundPlan plan,
      long cost,
      Purpose.Decide purpose,
      long wantedAtMicros,
      Consumer<Outcome> answer) {
    this.node = node;
    this.request = request;
    this.plan = plan;
    this.cost = cost;
    this.purpose = purpose;
    this.wantedAtMicros = wantedAtMicros;
    this.answer = answer;
    // What is decided once is looked for, in the same order, by whoever asks again.
    this.first =
        purpose
            .once()
            .map(once -> Shards.spread(once.id().hashCode(), counters()))
            .orElseGet(() -> Shards.spread(wantedAtMicros, counters()));
  }

  private int counters() {
    return plan.counters.length;
  }

  /** That is asked now, from 0. */
  private int shard() {
    return (first + denials.size()) % counters();
  }

  /** Asks the store: if the limits are divided, one sub-counter after another. */
  void ask() {
    long now = node.clock.micros();
    asked =
        node.entries.with(
            request.key(),
            plan,
            now,
            (entry, orphans) -> {
              entry.bind(plan, orphans);
              return entry.withoutStore(now)
                  ? null
                  : entry.ask(request.endpoint(), cost, shard(), now);
            });
    if (asked != null) {
      node.calls.submit(new Refill(request.key(), asked.takes(), purpose), wantedAtMicros, this);
    } else if (!answered.getAndSet(true)) {
      makeWithoutStore(now);
    }
  }

  @Override
  public void onOutcome(RefillOutcome outcome) {
    if (!answered.get() && goesOn(outcome)) {
      node.calls.heard(outcome, node.clock.micros());
      ask();
    } else {
      conclude(outcome);
      node.calls.heard(outcome, node.clock.micros());
    }
    node.calls.landed();
  }

  /** Takes in that one sub-counter has too little, if it is not the last. */
  private boolean goesOn(RefillOutcome outcome) {
    if (denials.size() + 1 >= counters()) {
      return false;
    }
    long now = node.clock.micros();
    if (outcome instanceof Answered told && !granted(told)) {
      takeIn(told, false, now);
      denials.add(told);
      return true;
    }
    if (outcome instanceof Repeated again && !granted(again.first())) {
      restore(true, now);
      denials.add(again.first());
      return true;
    }
    return false;
  }

  private void conclude(RefillOutcome outcome) {
    boolean late = answered.getAndSet(true);
    long now = node.clock.micros();
    if (outcome instanceof Answered told) {
      answered(told, late, now);
    } else if (outcome instanceof Repeated again) {
      restore(true, now);
      if (!late) {
        // It was counted when it was made.
        decided(plan.told(decision(again.first(), now)), again.reservation());
      }
    } else if (outcome instanceof UsedOtherwise) {
      restore(true, now);
      if (!late) {
        answer.accept(new Outcome.Refused());
      }
    } else {
      restore(((Unavailable) outcome).unsent(), now);
      if (!late) {
        makeWithoutStore(now);
      }
    }
  }

  private void answered(Answered told, boolean late, long now) {
    boolean allowed = granted(told);
    boolean reserves = purpose.reservation().isPresent() && allowed;
    takeIn(told, late && purpose.reservation().isEmpty(), now);
    Decision decision = decision(told, now);
    // What is reserved is spent when it is settled.
    if (!late && !reserves) {
      count(decision, told.storeMicros(), now);
    }
    if (late && reserves) {
      purpose.reservation().ifPresent(r -> node.release(request.key(), counter(), r.id()));
    }
    node.leases.taken(request.key(), plan, allowed ? cost : 0);
    if (!late) {
      decided(
          node.decisions.conclude(plan, decision),
          purpose.reservation().map(Purpose.Reservation::id).filter(id -> allowed));
    }
  }

  @Override
  public void onOverdue() {
    if (!answered.getAndSet(true)) {
      makeWithoutStore(node.clock.micros());
    }
  }

  private Shard counter() {
    return asked.takes().get(0).limit().shard();
  }

  private void decided(Decision decision, Optional<String> reservation) {
    answer.accept(new Outcome.Decided(decision, reservation.map(id -> new Held(id, counter()))));
  }

  /**
   * Takes in what the store told.
   *
   * @param unwanted whether what it granted goes back
   */
  private void takeIn(Answered told, boolean unwanted, long now) {
    node.entries.with(
        request.key(),
        plan,
        now,
        (entry, orphans) -> {
          entry.back(node.entries.restMicros(now), now);
          if (entry.remembers(asked)) {
            entry.learn(
                asked.takes(), told, node.accounting, wantedAtMicros, now, unwanted, orphans);
          }
          node.accounting.authorized(entry, plan.plan.name(), told);
          return null;
        });
  }

  private void count(Decision decision, long storeMicros, long now) {
    node.entries.with(
        request.key(),
        plan,
        now,
        (entry, orphans) -> {
          node.accounting.count(entry, plan, decision, cost, storeMicros);
          return null;
        });
  }

  /** Nothing was moved, or nobody knows: see {@link KeyEntry#restore}. */
  private void restore(boolean unmoved, long now) {
    node.entries.with(
        request.key(),
        plan,
        now,
        (entry, orphans) -> {
          if (entry.remembers(asked)) {
            entry.restore(asked.takes(), unmoved, orphans);
          }
          return null;
        });
  }

  /** Makes it as the plan has it while the store is away. */
  void makeWithoutStore(long now) {
    Decision decision =
        node.entries.with(
            request.key(),
            plan,
            now,
            (entry, orphans) -> {
              entry.bind(plan, orphans);
              Decision made =
                  entry.decideWithoutStore(request.endpoint(), cost, node.inForce.nodes(), now);
              // Permits that are held here pay for it, but nobody holds them for later.
              Decision flagged = purpose.reservation().isPresent() ? degraded(made) : made;
              node.accounting.count(entry, plan, flagged, cost);
              return flagged;
            });
    answer.accept(new Outcome.Decided(node.decisions.conclude(plan, decision), Optional.empty()));
  }

  private static Decision degraded(Decision decision) {
    return decision instanceof Decision.Allowed
        ? new Decision.Allowed(
            decision.key(),
            decision.plan(),
            decision.status(),
            decision.limits(),
            decision.staleMillis(),
            true)
        : decision;
  }

  /** What the levels say, as of when the store told them. */
  private Decision decision(Answered last, long now) {
    List<LimitStatus> statuses = plan.divided() ? known(now) : statuses(last);
    LimitStatus tightest = statuses.get(0);
    for (LimitStatus status : statuses) {
      if (status.remaining() < tightest.remaining()) {
        tightest = status;
      }
    }
    String planName = plan.plan.name();
    if (granted(last)) {
      return new Decision.Allowed(
          request.key(), planName, tightest, List.copyOf(statuses), 0, false);
    }
    Clearing first = clearing(last, denials.size());
    for (int tried = 0; tried < denials.size(); tried++) {
      Clearing other = clearing(denials.get(tried), tried);
      first = other.micros < first.micros ? other : first;
    }
    boolean never = first.micros == Long.MAX_VALUE;
    return new Decision.Denied(
        request.key(),
        planName,
        statuses.get(first.status),
        List.copyOf(statuses),
        0,
        false,
        never ? Decision.Reason.COST_EXCEEDS_LIMIT : Decision.Reason.LIMIT,
        never ? Decision.Denied.NEVER : Math.max(1, LimitLease.ceilMillis(first.micros)));
  }

  private static boolean granted(Answered told) {
    return told.levels().stream().anyMatch(level -> level.granted() > 0);
  }

  private List<LimitStatus> statuses(Answered told) {
    List<LimitStatus> statuses = new ArrayList<>(told.levels().size());
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, request.endpoint())) {
        Level level = told.levels().get(statuses.size());
        statuses.add(LimitLease.status(plan.limits[i], level.consumption(), 0, 0));
      }
    }
    return statuses;
  }

  /** As far as the node knows all sub-counters. */
  private List<LimitStatus> known(long now) {
    return node.entries.with(
        request.key(),
        plan,
        now,
        (entry, orphans) -> {
          List<LimitStatus> statuses = new ArrayList<>(plan.limits.length);
          for (int i = 0; i < plan.limits.length; i++) {
            if (plan.applies(i, request.endpoint())) {
              statuses.add(entry.knownStatus(plan, i, now));
            }
          }
          return statuses;
        });
  }

  /**
   * When a counter has room for the cost.
   *
   * @param status of the limit that has it last
   */
  private record Clearing(int status, long micros) {}

  private Clearing clearing(Answered told, int tried) {
    BoundLimit[] counters = plan.counters[(first + tried) % counters()];
    Clearing last = null;
    int status = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, request.endpoint())) {
        Level level = told.levels().get(status);
        long micros = microsUntilFits(counters[i].algorithm(), level.consumption());
        if (last == null || micros > last.micros) {
          last = new Clearing(status, micros);
        }
        status++;
      }
    }
    return last;
  }

  private long microsUntilFits(Algorithm algorithm, Consumption told) {
    return cost > algorithm.quota() ? Long.MAX_VALUE : algorithm.microsUntilFits(told, 0, cost);
  }
}
