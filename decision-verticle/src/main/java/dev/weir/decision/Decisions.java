package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Decisions by the leases of a key, with the numbers that these know. Under the monitor of the
 * key's entry, or where its stamp is looked at afterwards.
 */
final class Decisions {

  /** When to try again with a store that is away, which nobody can tell. */
  private static final long REFUSED_MILLIS = 1_000;

  private Decisions() {}

  static Decision allowed(PlanLeases leases, String endpoint, boolean degraded, long nowMicros) {
    BoundPlan plan = leases.bound();
    if (plan.single) {
      LimitStatus status = leases.status(nowMicros);
      return new Decision.Allowed(
          leases.key,
          plan.plan.name(),
          status,
          List.of(status),
          leases.staleMillis(nowMicros),
          degraded);
    }
    List<LimitStatus> statuses = new ArrayList<>(plan.limits.length);
    LimitStatus tightest = null;
    long stale = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        LimitLease lease = leases.lease(i);
        LimitStatus status = lease.status(nowMicros);
        statuses.add(status);
        if (tightest == null || status.remaining() < tightest.remaining()) {
          tightest = status;
          stale = lease.staleMillis(nowMicros);
        }
      }
    }
    if (tightest == null) {
      // No limit applies to the endpoint: the first one stands for the plan, untouched.
      tightest = leases.status(nowMicros);
      statuses.add(tightest);
    }
    return new Decision.Allowed(
        leases.key, plan.plan.name(), tightest, List.copyOf(statuses), stale, degraded);
  }

  /** The denial of a cost that some limit can never hold; null if all can. */
  static Decision deniedForGood(PlanLeases leases, String endpoint, long cost, long nowMicros) {
    BoundPlan plan = leases.bound();
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint) && cost > plan.largest(i)) {
        return denied(
            leases,
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

  /**
   * The denial of a cost that, by the store's last word, does not fit yet; null if it might.
   *
   * @param sinceMicros when it was asked for
   */
  static Decision deniedByLevel(
      PlanLeases leases, String endpoint, long cost, long sinceMicros, long nowMicros) {
    Shards shards = leases.shards();
    if (shards != null) {
      Shards.Denial denial = shards.denial(leases, endpoint, cost, sinceMicros, nowMicros);
      return denial == null
          ? null
          : denied(leases, denial.limit(), endpoint, denial.micros(), nowMicros);
    }
    BoundPlan plan = leases.bound();
    int last = -1;
    long longest = 0;
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        long micros = leases.lease(i).microsUntil(cost, nowMicros);
        if (micros > longest) {
          longest = micros;
          last = i;
        }
      }
    }
    return last < 0 ? null : denied(leases, last, endpoint, longest, nowMicros);
  }

  private static Decision denied(
      PlanLeases leases, int limit, String endpoint, long micros, long nowMicros) {
    return denied(
        leases,
        limit,
        endpoint,
        Decision.Reason.LIMIT,
        LimitLease.ceilMillis(micros),
        false,
        nowMicros);
  }

  /** The denial for want of a store, by a limit of which too few permits are held. */
  static Decision refused(PlanLeases leases, String endpoint, long cost, long nowMicros) {
    BoundPlan plan = leases.bound();
    int lacking = 0;
    while (!plan.applies(lacking, endpoint) || leases.lease(lacking).permits() >= cost) {
      lacking++;
    }
    return denied(
        leases, lacking, endpoint, Decision.Reason.STORE_AWAY, REFUSED_MILLIS, true, nowMicros);
  }

  private static Decision denied(
      PlanLeases leases,
      int limit,
      String endpoint,
      Decision.Reason reason,
      long retryAfterMillis,
      boolean degraded,
      long nowMicros) {
    BoundPlan plan = leases.bound();
    List<LimitStatus> statuses = new ArrayList<>(plan.limits.length);
    for (int i = 0; i < plan.limits.length; i++) {
      if (plan.applies(i, endpoint)) {
        statuses.add(leases.lease(i).status(nowMicros));
      }
    }
    return new Decision.Denied(
        leases.key,
        plan.plan.name(),
        leases.lease(limit).status(nowMicros),
        List.copyOf(statuses),
        leases.lease(limit).staleMillis(nowMicros),
        degraded,
        reason,
        retryAfterMillis);
  }
}
