package dev.weir.decision;

import dev.weir.decision.Waiters.Waiter;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.List;

/**
 * What a refill is to do to the sub-counters of a key whose limits are divided, as {@link Takes} is
 * of others. What is owed goes along, each part of it to its own.
 */
final class ShardTakes {

  private final PlanLeases leases;
  private final Shards shards;
  private final BoundPlan plan;
  private final long nowMicros;
  private final List<Take> takes = new ArrayList<>();

  private ShardTakes(PlanLeases leases, long nowMicros) {
    this.leases = leases;
    this.shards = leases.shards();
    this.plan = leases.bound();
    this.nowMicros = nowMicros;
  }

  /** What the first of {@code waiters} needs, sized to serve those behind it as well. */
  static List<Take> forWaiters(
      PlanLeases leases, Waiters waiters, LeaseCeiling ceilings, int nodes, long nowMicros) {
    ShardTakes made = new ShardTakes(leases, nowMicros);
    Waiter head = waiters.first();
    return head.cost() == 0
        ? made.look(head, made.shards.stale(head, PlanLeases.LEASE_MICROS, nowMicros))
        : made.take(head, waiters, ceilings, nodes);
  }

  /** At some sub-counters, of which nothing is taken. */
  private List<Take> look(Waiter head, List<Integer> looks) {
    for (int i = 0; i < plan.limits.length; i++) {
      boolean applies = plan.applies(i, head.endpoint());
      long[] owed = shards.settle(i, leases.lease(i));
      for (int s = 0; s < owed.length; s++) {
        if ((applies && looks.contains(s)) || owed[s] != 0) {
          add(i, s, owed[s], 0, 0);
        }
      }
    }
    return takes;
  }

  /**
   * From one that the cost might fit, by turns. When the first had too little, a look at all others
   * tells which has enough: asking one after another could take longer than callers wait.
   */
  private List<Take> take(Waiter head, Waiters waiters, LeaseCeiling ceilings, int nodes) {
    String endpoint = head.endpoint();
    long since = head.sinceMicros();
    List<Integer> candidates = shards.candidates(leases, endpoint, head.cost(), since, nowMicros);
    List<Integer> known =
        candidates.stream().filter(s -> shards.askedSince(s, endpoint, since)).toList();
    boolean refused = shards.refused(leases, endpoint, head.cost(), since, nowMicros);
    if (refused && known.isEmpty() && candidates.size() > 1) {
      return look(head, candidates);
    }
    List<Integer> first = refused && !known.isEmpty() ? known : candidates;
    int target = first.isEmpty() ? shards.turns(nowMicros)[0] : first.get(0);
    shards.took(target);
    for (int i = 0; i < plan.limits.length; i++) {
      LimitLease lease = leases.lease(i);
      boolean applies = plan.applies(i, endpoint);
      long[] owed = shards.settle(i, lease);
      for (int s = 0; s < owed.length; s++) {
        if (applies && s == target) {
          long held = lease.permits();
          long need = Math.max(0, head.cost() - held);
          long demand = waiters.demand(plan, i) - held;
          long ask =
              demand <= 0
                  ? 0
                  : Math.max(
                      demand, Takes.nextLease(leases, lease, held, ceilings, nodes, nowMicros));
          add(i, s, owed[s], need, Math.max(need, Math.min(ask, plan.counters[s][i].quota())));
        } else if (owed[s] != 0) {
          add(i, s, owed[s], 0, 0);
        }
      }
    }
    return takes;
  }

  /** Of the leases that are {@link Takes#low}, ahead of need, from one that has some. */
  static List<Take> ahead(PlanLeases leases, LeaseCeiling ceilings, int nodes, long nowMicros) {
    ShardTakes made = new ShardTakes(leases, nowMicros);
    Shards shards = made.shards;
    List<Integer> low = new ArrayList<>();
    for (int i = 0; i < made.plan.limits.length; i++) {
      if (Takes.low(leases.lease(i))) {
        low.add(i);
      }
    }
    int target = shards.withRoom(leases, low, nowMicros);
    for (int i : target < 0 ? List.<Integer>of() : low) {
      LimitLease lease = leases.lease(i);
      long ask = Takes.nextLease(leases, lease, lease.permits(), ceilings, nodes, nowMicros);
      if (ask > 0) {
        shards.took(target);
        made.add(i, target, 0, 0, Math.min(ask, made.plan.counters[target][i].quota()));
      }
    }
    return made.takes;
  }

  /** Of all that is owed. */
  static List<Take> owed(PlanLeases leases, long nowMicros) {
    return new ShardTakes(leases, nowMicros).owed(false);
  }

  /** Of all that the store has told to be used, and all that is owed. */
  static List<Take> told(PlanLeases leases, long nowMicros) {
    return new ShardTakes(leases, nowMicros).owed(true);
  }

  private List<Take> owed(boolean told) {
    for (int i = 0; i < plan.limits.length; i++) {
      long[] owed = shards.settle(i, leases.lease(i));
      for (int s = 0; s < owed.length; s++) {
        if (owed[s] != 0 || (told && shards.part(i, s).lastTold(nowMicros).used() > 0)) {
          add(i, s, owed[s], 0, 0);
        }
      }
    }
    return takes;
  }

  /** A decision by one sub-counter itself, with what is owed to it. */
  static List<Take> strictly(
      PlanLeases leases, String endpoint, long cost, int shard, long nowMicros) {
    ShardTakes made = new ShardTakes(leases, nowMicros);
    for (int i = 0; i < made.plan.limits.length; i++) {
      if (made.plan.applies(i, endpoint)) {
        LimitLease lease = leases.lease(i);
        LimitPart part = made.shards.part(i, shard);
        lease.giveBack(0);
        long back = part.giveBackOf(lease.owed);
        long charged = made.shards.charge(i, shard, lease);
        lease.owed += charged - back;
        made.add(i, shard, back - charged, cost, cost);
      }
    }
    return made.takes;
  }

  private void add(int limit, int shard, long owed, long need, long ask) {
    LimitPart part = shards.part(limit, shard);
    takes.add(Takes.of(part, owed, need, ask, part.lastTold(nowMicros)));
  }
}
