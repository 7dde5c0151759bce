package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.decision.KeyEntry.Asked;
import dev.weir.lease.Purpose;
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

  /** What the asker is told. */
  sealed interface Outcome {

    /**
     * It is decided.
     *
     * @param reservation by which the store holds what was granted, if it does
     */
    record Decided(Decision decision, Optional<String> reservation) implements Outcome {}

    /** The same id was used for another request; nothing was spent. */
    record Refused() implements Outcome {}
  }

  private final StoreDecisions node;
  private final CheckRequest request;
  private final BoundPlan plan;
  private final long cost;
  private final Purpose.Decide purpose;
  private final Asked asked;
  private final long askedMicros;
  private final Consumer<Outcome> answer;
  private final AtomicBoolean answered = new AtomicBoolean();

  /**
   * @param asked for the limits of {@code plan} that apply to the request, in its order; null if
   *     the store is not asked
   */
  StoreDecision(
      StoreDecisions node,
      CheckRequest request,
      BoundPlan plan,
      long cost,
      Purpose.Decide purpose,
      Asked asked,
      long askedMicros,
      Consumer<Outcome> answer) {
    this.node = node;
    this.request = request;
    this.plan = plan;
    this.cost = cost;
    this.purpose = purpose;
    this.asked = asked;
    this.askedMicros = askedMicros;
    this.answer = answer;
  }

  @Override
  public void onOutcome(RefillOutcome outcome) {
    boolean late = answered.getAndSet(true);
    long now = node.clock.micros();
    if (outcome instanceof Answered first) {
      Decision decision = decision(first);
      takeIn(first, decision, late, now);
      node.leases.taken(request.key(), plan, decision.allowed() ? cost : 0);
      if (!late) {
        decided(
            node.decisions.conclude(plan, decision),
            purpose.reservation().map(Purpose.Reservation::id).filter(id -> decision.allowed()));
      }
    } else if (outcome instanceof Repeated again) {
      restore(true, now);
      if (!late) {
        // It was counted when it was made.
        decided(plan.told(decision(again.first())), again.reservation());
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
    node.calls.heard(outcome, node.clock.micros());
    node.calls.landed();
  }

  @Override
  public void onOverdue() {
    if (!answered.getAndSet(true)) {
      makeWithoutStore(node.clock.micros());
    }
  }

  private void decided(Decision decision, Optional<String> reservation) {
    answer.accept(new Outcome.Decided(decision, reservation));
  }

  private void takeIn(Answered first, Decision decision, boolean late, long now) {
    boolean reserves = purpose.reservation().isPresent() && decision.allowed();
    boolean unwanted = late && purpose.reservation().isEmpty();
    node.entries.with(
        request.key(),
        plan,
        now,
        (entry, orphans) -> {
          entry.back(node.entries.restMicros(now), now);
          if (entry.remembers(asked)) {
            entry.learn(asked.takes(), first, node.accounting, askedMicros, now, unwanted, orphans);
          }
          node.accounting.authorized(entry, plan.plan.name(), first);
          // What is reserved is spent when it is settled.
          if (!late && !reserves) {
            node.accounting.count(entry, plan, decision, cost, first.storeMicros());
          }
          return null;
        });
    if (late && reserves) {
      purpose.reservation().ifPresent(r -> node.release(request.key(), r.id()));
    }
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
    decided(node.decisions.conclude(plan, decision), Optional.empty());
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
  private Decision decision(Answered answer) {
    List<LimitStatus> statuses = new ArrayList<>(asked.takes().size());
    LimitStatus tightest = null;
    LimitStatus last = null;
    long longest = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (!plan.applies(i, request.endpoint())) {
        continue;
      }
      BoundLimit limit = plan.limits[i];
      Level level = answer.levels().get(statuses.size());
      LimitStatus status = LimitLease.status(limit, level.consumption(), 0, 0);
      statuses.add(status);
      if (tightest == null || status.remaining() < tightest.remaining()) {
        tightest = status;
      }
      long micros = microsUntilFits(limit.algorithm(), level.consumption());
      if (last == null || micros > longest) {
        longest = micros;
        last = status;
      }
    }
    String planName = plan.plan.name();
    if (answer.levels().stream().anyMatch(level -> level.granted() > 0)) {
      return new Decision.Allowed(
          request.key(), planName, tightest, List.copyOf(statuses), 0, false);
    }
    boolean never = longest == Long.MAX_VALUE;
    return new Decision.Denied(
        request.key(),
        planName,
        last,
        List.copyOf(statuses),
        0,
        false,
        never ? Decision.Reason.COST_EXCEEDS_LIMIT : Decision.Reason.LIMIT,
        never ? Decision.Denied.NEVER : Math.max(1, LimitLease.ceilMillis(longest)));
  }

  private long microsUntilFits(Algorithm algorithm, Consumption told) {
    return cost > algorithm.quota() ? Long.MAX_VALUE : algorithm.microsUntilFits(told, 0, cost);
  }
}
