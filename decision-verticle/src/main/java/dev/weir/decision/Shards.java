package dev.weir.decision;

import dev.weir.config.Consumption;
import dev.weir.config.OnStoreFailure;
import dev.weir.config.Shard;
import dev.weir.decision.LimitLease.Told;
import dev.weir.decision.Waiters.Waiter;
import dev.weir.lease.Take;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * The sub-counters of a key whose limits are divided: what the store last told of each, and which
 * is asked next. They take turns, so that all are used alike and each node knows all of them.
 *
 * <p>The leases of the key are of the limits as a whole. What is known of these is put together
 * from here with every word: of each sub-counter what is used, in whole permits, since a fraction
 * of a permit that is left here and another there are no permit.
 *
 * <p>A cost is taken from one sub-counter. That it fits none is proven when each was told to be too
 * full, all limits of the plan considered.
 *
 * <p>Belongs to a {@link KeyEntry} and is used under its monitor.
 */
final class Shards {

  /** How long a sub-counter that has not answered is passed over, if others are there. */
  static final long PASSED_MICROS = 1_000_000;

  private static final int NONE = -1;

  /** 2^64 by the golden ratio: Knuth, "The Art of Computer Programming", volume 3, 6.4. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private static final double ROUNDING = 1e-6;

  private final BoundPlan plan;

  /** By number of the sub-counter less 1, then as the limits of the plan. */
  private final LimitPart[][] parts;

  private final long[] passedUntilMicros;
  private int next = NONE;

  /**
   * What keeps a cost from being taken.
   *
   * @param limit of the plan, that clears last where it clears first
   * @param micros until then
   */
  record Denial(int limit, long micros) {}

  private Shards(BoundPlan plan) {
    this.plan = plan;
    parts = new LimitPart[plan.counters.length][];
    for (int s = 0; s < parts.length; s++) {
      parts[s] = Arrays.stream(plan.counters[s]).map(LimitPart::new).toArray(LimitPart[]::new);
    }
    passedUntilMicros = new long[parts.length];
    Arrays.fill(passedUntilMicros, Long.MIN_VALUE);
  }

  /** Of a plan; null if its limits are not divided. */
  static Shards of(BoundPlan plan) {
    return plan.divided() ? new Shards(plan) : null;
  }

  int count() {
    return parts.length;
  }

  LimitPart part(int limit, int shard) {
    return parts[shard][limit];
  }

  LimitPart part(int limit, Shard shard) {
    return parts[shard.number() - 1][limit];
  }

  // ---- what the store tells

  /** Takes in that one of them has answered, or has not. */
  void heard(Shard shard, boolean answered, long nowMicros) {
    passedUntilMicros[shard.number() - 1] = answered ? Long.MIN_VALUE : nowMicros + PASSED_MICROS;
  }

  /** Whether one that a waiter might have its cost from has not failed to answer of late. */
  boolean present(Waiter waiter, PlanLeases leases, long nowMicros) {
    return waiter.cost() > 0
        && !candidates(leases, waiter.endpoint(), waiter.cost(), waiter.sinceMicros(), nowMicros)
            .isEmpty();
  }

  /** Has {@code lease}, of all of a limit, know what all sub-counters do; one has told it. */
  void gather(int limit, LimitLease lease, Told told) {
    double used = 0;
    boolean reserved = false;
    for (LimitPart[] shard : parts) {
      LimitPart part = shard[limit];
      used += whole(part.counted(told.nowMicros()));
      reserved |= part.reserved();
    }
    long leftMicros = told.consumption().leftMicros();
    long windowEnd = lease.windowEndMicros();
    lease.learn(
        lease.limit().algorithm(),
        new Told(
            new Consumption(used, 0, leftMicros),
            reserved,
            told.askedMicros(),
            told.nowMicros(),
            told.storeMicros(),
            told.epoch()));
    lease.add(column(limit));
    if (lease.windowEndMicros() != windowEnd) {
      // What was held was of a window that is over.
      Arrays.stream(column(limit)).forEach(LimitPart::release);
    }
  }

  /** The permits that {@code used} takes away, a fraction of one as well. */
  static long whole(double used) {
    return Math.max(0, (long) Math.ceil(used - ROUNDING));
  }

  private LimitPart[] column(int limit) {
    return Arrays.stream(parts).map(shard -> shard[limit]).toArray(LimitPart[]::new);
  }

  /**
   * Units of the limit that has granted most that all nodes together were granted, as far as known.
   */
  long authorized(int window) {
    long most = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      long sum = 0;
      for (LimitPart[] shard : parts) {
        sum += shard[i].authorized(window);
      }
      most = Math.max(most, sum);
    }
    return most;
  }

  // ---- under other numbers

  /** Goes on from what {@code former} knows of a limit, which was divided alike. */
  void goOnFrom(Shards former, int formerLimit, int limit) {
    for (int s = 0; s < parts.length; s++) {
      parts[s][limit].goOnFrom(former.parts[s][formerLimit]);
    }
  }

  /** Goes on from what is known of a limit that was not divided so: each has its part of it. */
  void carry(int limit, LimitLease whole) {
    for (LimitPart[] shard : parts) {
      shard[limit].carryPart(whole);
    }
  }

  // ---- whether a cost fits

  /**
   * The denial of a cost that fits none of them yet; null if one is worth asking.
   *
   * @param sinceMicros when it was asked for: of a limit that is not leased, words of before prove
   *     nothing
   */
  Denial denial(PlanLeases leases, String endpoint, long cost, long sinceMicros, long nowMicros) {
    Denial first = null;
    for (int s = 0; s < parts.length; s++) {
      Denial denial = denial(leases, s, endpoint, cost, sinceMicros, nowMicros);
      if (denial == null) {
        return null;
      }
      if (first == null || denial.micros < first.micros) {
        first = denial;
      }
    }
    return first;
  }

  private Denial denial(
      PlanLeases leases, int s, String endpoint, long cost, long sinceMicros, long nowMicros) {
    Denial last = null;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        long micros = microsUntil(leases, s, i, cost, sinceMicros, nowMicros);
        if (micros > 0 && (last == null || micros > last.micros)) {
          last = new Denial(i, micros);
        }
      }
    }
    return last;
  }

  private long microsUntil(
      PlanLeases leases, int s, int i, long cost, long sinceMicros, long nowMicros) {
    LimitLease lease = leases.lease(i);
    LimitPart part = parts[s][i];
    long lacking = cost - lease.permits();
    if (lacking > part.limit().quota()) {
      return Long.MAX_VALUE;
    }
    if (!part.askedSince(provenSince(part, sinceMicros, nowMicros))) {
      return 0;
    }
    long charged = charges(i, lease)[s];
    long micros = part.microsUntilRoom(lacking + charged, part.returnable(lease.owed), nowMicros);
    long leftMicros = leases.leaseUntilMicros() - nowMicros;
    if (lease.permits() == 0 || LimitLease.ceilMillis(micros) * 1000 < leftMicros) {
      return micros;
    }
    // What is held now has gone back by then, some of it elsewhere.
    long back = returns(i, lease.permits() + Math.max(0, lease.owed))[s];
    return cost > part.limit().quota()
        ? Long.MAX_VALUE
        : Math.max(micros, part.microsUntilRoom(cost + charged, back, nowMicros));
  }

  private long provenSince(LimitPart part, long sinceMicros, long nowMicros) {
    if (!part.limit().limit().leased()) {
      return sinceMicros;
    }
    return plan.plan.onStoreFailure() == OnStoreFailure.OPEN
        ? nowMicros - KeyEntry.OPEN_DENIAL_MICROS
        : Long.MIN_VALUE;
  }

  /**
   * Whether all have told enough for a request that spends nothing.
   *
   * @param sinceMicros when it was asked
   */
  boolean fresh(String endpoint, long sinceMicros, long ageMicros, long nowMicros) {
    for (int s = 0; s < parts.length; s++) {
      if (!fresh(s, endpoint, sinceMicros, ageMicros, nowMicros)) {
        return false;
      }
    }
    return true;
  }

  /** Those that have not told enough for a request that spends nothing. */
  List<Integer> stale(Waiter waiter, long ageMicros, long nowMicros) {
    List<Integer> stale = new ArrayList<>(parts.length);
    for (int s = 0; s < parts.length; s++) {
      if (!fresh(s, waiter.endpoint(), waiter.sinceMicros(), ageMicros, nowMicros)) {
        stale.add(s);
      }
    }
    return stale;
  }

  private boolean fresh(int s, String endpoint, long sinceMicros, long ageMicros, long nowMicros) {
    for (int i = 0; i < plan.limits.length; i++) {
      LimitPart part = parts[s][i];
      if (plan.applies(i, endpoint)
          && !part.askedSince(sinceMicros)
          && !part.isFresh(nowMicros, ageMicros)) {
        return false;
      }
    }
    return true;
  }

  // ---- which to ask

  /** One of {@code count}, from 0, as good as at random. */
  static int spread(long seed, int count) {
    return (int) (((seed * SPREAD) >>> 32) % count);
  }

  /** All of them, that whose turn it is first. */
  int[] turns(long nowMicros) {
    if (next == NONE) {
      next = spread(nowMicros, parts.length);
    }
    int[] turns = new int[parts.length];
    for (int k = 0; k < turns.length; k++) {
      turns[k] = (next + k) % turns.length;
    }
    return turns;
  }

  /** It is the turn of the one behind {@code shard}. */
  void took(int shard) {
    next = (shard + 1) % parts.length;
  }

  /** Those that a cost might fit, and that were there when last asked, in the order of turns. */
  List<Integer> candidates(
      PlanLeases leases, String endpoint, long cost, long sinceMicros, long nowMicros) {
    List<Integer> candidates = new ArrayList<>(parts.length);
    for (int s : turns(nowMicros)) {
      if (nowMicros >= passedUntilMicros[s]
          && denial(leases, s, endpoint, cost, sinceMicros, nowMicros) == null) {
        candidates.add(s);
      }
    }
    return candidates;
  }

  /** Whether one that was asked since a request came had too little for it. */
  boolean refused(PlanLeases leases, String endpoint, long cost, long sinceMicros, long nowMicros) {
    for (int s = 0; s < parts.length; s++) {
      if (askedSince(s, endpoint, sinceMicros)
          && denial(leases, s, endpoint, cost, sinceMicros, nowMicros) != null) {
        return true;
      }
    }
    return false;
  }

  /** The first in turn that has more of all of {@code limits}, as far as known; else below 0. */
  int withRoom(PlanLeases leases, List<Integer> limits, long nowMicros) {
    for (int s : turns(nowMicros)) {
      boolean room = nowMicros >= passedUntilMicros[s];
      for (int i : limits) {
        long more = leases.lease(i).permits() + 1;
        room &= microsUntil(leases, s, i, more, nowMicros, nowMicros) == 0;
      }
      if (room) {
        return s;
      }
    }
    return NONE;
  }

  /** Whether all limits that apply were told of {@code shard} since then. */
  boolean askedSince(int shard, String endpoint, long sinceMicros) {
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && !parts[shard][i].askedSince(sinceMicros)) {
        return false;
      }
    }
    return true;
  }

  // ---- what is owed

  /**
   * Divides what is owed of a limit, which is owed no more from then on. Permits go back to where
   * they may have come from, the latest first; what nobody has granted is lost. What was spent
   * without the store is charged to all, as {@link #charges} says.
   *
   * @return by sub-counter; above 0, permits that go back, below 0, units to be charged
   */
  long[] settle(int limit, LimitLease lease) {
    long[] shares = returns(limit, lease.owed);
    long[] charges = charges(limit, lease);
    lease.owed = 0;
    for (int s = 0; s < shares.length; s++) {
      shares[s] = parts[s][limit].giveBackOf(shares[s]) - charges[s];
    }
    return shares;
  }

  /** How permits that go back are divided, if {@code permits} is above 0. */
  private long[] returns(int limit, long permits) {
    long[] returns = new long[parts.length];
    long left = permits;
    for (int k = 1; k <= returns.length; k++) {
      int s = Math.floorMod(next - k, returns.length);
      returns[s] = parts[s][limit].returnable(left);
      left -= returns[s];
    }
    return returns;
  }

  /**
   * Divides what was spent without the store: so that no sub-counter has room that would have been
   * used up, had all been one.
   */
  private long[] charges(int limit, LimitLease lease) {
    long[] charges = new long[parts.length];
    long debt = lease.debt();
    if (debt == 0) {
      return charges;
    }
    long[] rooms = Arrays.stream(column(limit)).mapToLong(LimitPart::room).toArray();
    long allRoom = Arrays.stream(rooms).sum();
    long within = Math.min(debt, allRoom);
    long room = 0;
    long charged = 0;
    for (int s = 0; s < charges.length; s++) {
      room += rooms[s];
      long upto = room == allRoom ? within : (long) ((double) within * room / allRoom);
      Shard shard = parts[s][limit].limit().limit().shard();
      charges[s] = upto - charged + shard.partOf(debt - within);
      charged = upto;
    }
    return charges;
  }

  /** The part of a sub-counter in what was spent without the store. */
  long charge(int limit, int shard, LimitLease lease) {
    return charges(limit, lease)[shard];
  }

  /** All that is owed of a limit goes to {@code orphans}. */
  void settle(int limit, LimitLease lease, Consumer<Take> orphans) {
    long[] owed = settle(limit, lease);
    for (int s = 0; s < owed.length; s++) {
      if (owed[s] != 0) {
        orphans.accept(Takes.of(parts[s][limit], owed[s], 0, 0, Take.Told.NOTHING));
      }
    }
  }
}
