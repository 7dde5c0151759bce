package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.config.Clock;
import dev.weir.config.Shard;
import dev.weir.lease.Purpose;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.RefillOutcome.Settled;
import dev.weir.lease.RefillOutcome.Unavailable;
import dev.weir.lease.RefillOutcome.Verdict;
import dev.weir.lease.Refills;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Has the store make decisions by itself, and settle what it has reserved by them. Safe to use from
 * any thread.
 */
final class StoreDecisions {
  final Clock clock;
  final InForce inForce;
  final Entries entries;
  final StoreCalls calls;
  final Accounting accounting;
  final DecisionCounts decisions;
  final LeaseCounts leases;

  StoreDecisions(
      Clock clock,
      InForce inForce,
      Entries entries,
      StoreCalls calls,
      Accounting accounting,
      DecisionCounts decisions,
      LeaseCounts leases) {
    this.clock = clock;
    this.inForce = inForce;
    this.entries = entries;
    this.calls = calls;
    this.accounting = accounting;
    this.decisions = decisions;
    this.leases = leases;
  }

  /** Has the store decide on {@code request}, to which some limit of {@code plan} applies. */
  void decide(
      CheckRequest request,
      BoundPlan plan,
      long cost,
      Purpose.Decide purpose,
      Consumer<StoreDecision.Outcome> answer) {
    new StoreDecision(this, request, plan, cost, purpose, clock.micros(), answer).ask();
  }

  /** Gives a reservation back that nobody has been told of. */
  void release(String key, Shard shard, String reservation) {
    settle(key, shard, new Purpose.Settle(reservation, 0), settled -> {}, outcome -> {});
  }

  /**
   * Ends a reservation that was made under {@code plan}.
   *
   * @param shard that holds it
   * @param answer gets what came of it, unavailable if that is overdue
   */
  void settle(
      String key, Shard shard, String plan, Purpose.Settle settle, Consumer<RefillOutcome> answer) {
    settle(
        key,
        shard,
        settle,
        settled -> {
          if (settle.spent() != 0) {
            boolean all = settle.spent() == Purpose.Settle.ALL;
            count(key, plan, all ? settled.reserved() : settle.spent());
          }
        },
        answer);
  }

  private void settle(
      String key,
      Shard shard,
      Purpose.Settle settle,
      Consumer<Settled> whenSettled,
      Consumer<RefillOutcome> answer) {
    AtomicBoolean answered = new AtomicBoolean();
    calls.submit(
        new Refill(key, shard, List.of(), settle),
        clock.micros(),
        new Refills.Listener() {
          @Override
          public void onOutcome(RefillOutcome outcome) {
            if (outcome instanceof Settled settled && settled.verdict() == Verdict.SETTLED) {
              whenSettled.accept(settled);
            }
            calls.landed();
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

  /** Counts what is spent of a reservation, whose plan may be no more. */
  private void count(String key, String plan, long units) {
    Optional<BoundPlan> bound = inForce.config().find(plan, key);
    if (bound.isPresent()) {
      entries.with(
          key,
          bound.get(),
          clock.micros(),
          (entry, orphans) -> {
            accounting.countSettled(entry, plan, units);
            return null;
          });
    } else {
      accounting.countSettled(key, plan, units);
    }
  }
}
