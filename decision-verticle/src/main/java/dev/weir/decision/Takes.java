package dev.weir.decision;

import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a refill is to do to the limits of a key, formed from its leases. Each take has along what
 * is owed, which is owed no more from then on; so all of it is under the monitor of the key's
 * entry.
 */
final class Takes {

  /** A refill starts in the background when this part of the lease is left. */
  private static final int LOW_WATER_PART = 8;

  private Takes() {}

  /** The steps that {@code takes} make of: those of one shard are one. */
  static List<Refill> steps(String key, List<Take> takes) {
    if (areOfOne(takes)) {
      return List.of(new Refill(key, takes));
    }
    Map<Shard, List<Take>> byShard = new LinkedHashMap<>();
    for (Take take : takes) {
      byShard.computeIfAbsent(take.limit().shard(), shard -> new ArrayList<>()).add(take);
    }
    return byShard.values().stream().map(ofShard -> new Refill(key, ofShard)).toList();
  }

  private static boolean areOfOne(List<Take> takes) {
    Shard first = takes.get(0).limit().shard();
    for (Take take : takes) {
      if (!take.limit().shard().equals(first)) {
        return false;
      }
    }
    return true;
  }

  /** What the first of {@code waiters} needs, sized to serve those behind it as well. */
  static List<Take> forWaiters(
      PlanLeases leases, Waiters waiters, LeaseCeiling ceilings, int nodes, long nowMicros) {
    Waiters.Waiter head = waiters.first();
    BoundPlan plan = leases.bound();
    List<Take> takes = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, head.endpoint())) {
        LimitLease lease = leases.lease(i);
        long held = lease.permits();
        long need = Math.max(0, head.cost() - held);
        long demand = waiters.demand(plan, i) - held;
        // Without demand it is a peek that waits, and a peek leases nothing.
        long ask =
            demand <= 0
                ? 0
                : Math.max(demand, nextLease(leases, lease, held, ceilings, nodes, nowMicros));
        takes.add(of(lease, need, Math.max(need, Math.min(ask, lease.limit().quota())), nowMicros));
      }
    }
    return takes;
  }

  /** Of the leases that are {@link #low}, ahead of need. */
  static List<Take> ahead(PlanLeases leases, LeaseCeiling ceilings, int nodes, long nowMicros) {
    int limits = leases.bound().limits.length;
    List<Take> takes = new ArrayList<>(limits);
    for (int i = 0; i < limits; i++) {
      LimitLease lease = leases.lease(i);
      if (low(lease)) {
        long ask = nextLease(leases, lease, lease.permits(), ceilings, nodes, nowMicros);
        if (ask > 0) {
          takes.add(of(lease, 0, ask, nowMicros));
        }
      }
    }
    return takes;
  }

  /** Of all that is owed. */
  static List<Take> owed(PlanLeases leases, long nowMicros) {
    int limits = leases.bound().limits.length;
    List<Take> takes = new ArrayList<>(limits);
    for (int i = 0; i < limits; i++) {
      if (leases.lease(i).owed != 0) {
        takes.add(of(leases.lease(i), 0, 0, nowMicros));
      }
    }
    return takes;
  }

  /** Of all that the store has told to be used, and all that is owed. */
  static List<Take> told(PlanLeases leases, long nowMicros) {
    int limits = leases.bound().limits.length;
    List<Take> takes = new ArrayList<>(limits);
    for (int i = 0; i < limits; i++) {
      LimitLease lease = leases.lease(i);
      if (lease.owed != 0 || lease.lastTold(nowMicros).used() > 0) {
        takes.add(of(lease, 0, 0, nowMicros));
      }
    }
    return takes;
  }

  /** Whether a lease is low enough to refill it ahead of need. */
  static boolean low(LimitLease lease) {
    return lease.permits() < lease.size.permits() / LOW_WATER_PART;
  }

  /**
   * Permits that the next lease should bring, given what is held; sizes up if this one was short.
   */
  static long nextLease(
      PlanLeases leases,
      LimitLease lease,
      long held,
      LeaseCeiling ceilings,
      int nodes,
      long nowMicros) {
    long ceiling = ceilings.of(lease.limit().limit(), nodes);
    if (ceiling < 1) {
      return 0;
    }
    if (leases.leased(leases.bound(), nowMicros)) {
      lease.size = lease.size.exhausted(ceiling);
    }
    return Math.max(0, Math.min(lease.size.permits(), ceiling - held));
  }

  /** Of one limit. */
  static Take of(LimitLease lease, long need, long ask, long nowMicros) {
    return of(lease, need, ask, lease.lastTold(nowMicros));
  }

  private static Take of(LimitLease lease, long need, long ask, Take.Told told) {
    long owed = lease.owed;
    lease.owed = 0;
    return of(lease, owed, need, ask, told);
  }

  /**
   * Of one counter.
   *
   * @param owed to it, as in {@link LimitLease#owed}
   */
  static Take of(LimitLease lease, long owed, long need, long ask, Take.Told told) {
    return new Take(
        lease.limit().limit(),
        Math.max(0, owed),
        lease.windowEndMicros(),
        Math.max(0, -owed),
        need,
        ask,
        told);
  }

  /** Of a limit that is not looked after any more. */
  static Take settling(LimitLease lease) {
    return of(lease, 0, 0, Take.Told.NOTHING);
  }

  /** Gives back what was granted of a limit that is not there any more. */
  static Take giving(Limit limit, long permits, Answered answer, Level level) {
    long grantedIn = answer.storeMicros() + level.consumption().leftMicros();
    return new Take(limit, permits, grantedIn, 0, 0, 0);
  }

  /**
   * What is left to do of a take that came to nothing, as in {@link PlanLeases#restore}; empty if
   * nothing is.
   */
  static Optional<Take> unsettled(Take take, boolean unmoved) {
    long returned = unmoved ? take.returned() : 0;
    return returned == 0 && take.charged() == 0
        ? Optional.empty()
        : Optional.of(new Take(take.limit(), returned, take.grantedIn(), take.charged(), 0, 0));
  }
}
