package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in for the store while it is away from one key: a bucket per limit of this node's
 * part of it. What is spent here is owed to the store, which hears of it when it is back.
 *
 * <p>A bucket starts with this node's part of what the store had left at its last word, so that an
 * outage of a moment hands out nothing that the store would not have.
 *
 * <p>Belongs to a {@link KeyEntry} and is used under its monitor.
 */
final class Outage {

  /** Forgiven to sums of fractions, permits. */
  private static final double ROUNDING = 1e-6;

  private final BoundPlan plan;
  private final double share;
  private final double[] capacity;
  private final double[] left;
  private long atMicros;

  /**
   * @param share of each limit that this node may spend, above 0, at most 1
   */
  Outage(BoundPlan plan, KeyEntry entry, double share, long nowMicros) {
    this.plan = plan;
    this.share = share;
    this.capacity = new double[plan.limits.length];
    this.left = new double[plan.limits.length];
    this.atMicros = nowMicros;
    for (int i = 0; i < left.length; i++) {
      capacity[i] = quota(i) * share;
      double level = entry.lease(i).level(nowMicros) + entry.chargedInFlight(i);
      left[i] = Math.max(0, quota(i) - level) * share;
    }
  }

  private double quota(int limit) {
    return plan.limits[limit].bucket().quota();
  }

  Decision decide(KeyEntry entry, String endpoint, long cost, long nowMicros) {
    refill(nowMicros);
    int last = -1;
    long longest = 0;
    for (int i = 0; i < left.length; i++) {
      if (plan.applies(i, endpoint)) {
        long micros = microsUntilFits(i, cost);
        if (micros > longest) {
          longest = micros;
          last = i;
        }
      }
    }
    if (last >= 0) {
      return denied(entry, last, endpoint, cost, longest, nowMicros);
    }
    for (int i = 0; i < left.length; i++) {
      if (plan.applies(i, endpoint)) {
        left[i] -= cost;
        entry.lease(i).owed -= cost;
      }
    }
    return allowed(entry, endpoint, nowMicros);
  }

  private void refill(long nowMicros) {
    long elapsed = Math.max(0, nowMicros - atMicros);
    for (int i = 0; i < left.length; i++) {
      left[i] = Math.min(capacity[i], left[i] + elapsed * permitsPerMicro(i));
    }
    atMicros = nowMicros;
  }

  private double permitsPerMicro(int limit) {
    return plan.limits[limit].bucket().permitsPerMicro() * share;
  }

  /**
   * A cost that the limit can hold fits after some waiting, even if this node's part cannot hold
   * it: the part then saves up for it, at its own rate. What is spent over the whole outage stays
   * within the part all the same.
   */
  private long microsUntilFits(int limit, long cost) {
    double missing = cost - left[limit];
    if (missing <= ROUNDING) {
      return 0;
    }
    capacity[limit] = Math.max(capacity[limit], Math.min(quota(limit), (double) cost));
    return (long) Math.ceil((missing - ROUNDING / 2) / permitsPerMicro(limit));
  }

  private Decision allowed(KeyEntry entry, String endpoint, long nowMicros) {
    List<LimitStatus> statuses = statuses(endpoint);
    LimitStatus tightest = statuses.get(0);
    for (LimitStatus status : statuses) {
      if (status.remaining() < tightest.remaining()) {
        tightest = status;
      }
    }
    return new Decision.Allowed(
        entry.key, plan.plan.name(), tightest, statuses, entry.staleMillis(nowMicros), true);
  }

  private Decision denied(
      KeyEntry entry, int limit, String endpoint, long cost, long micros, long nowMicros) {
    boolean everFits = cost <= quota(limit);
    return new Decision.Denied(
        entry.key,
        plan.plan.name(),
        status(limit),
        statuses(endpoint),
        entry.lease(limit).staleMillis(nowMicros),
        true,
        everFits ? Decision.Reason.LIMIT : Decision.Reason.COST_EXCEEDS_LIMIT,
        everFits ? LimitLease.ceilMillis(micros) : Decision.Denied.NEVER);
  }

  private List<LimitStatus> statuses(String endpoint) {
    List<LimitStatus> statuses = new ArrayList<>(left.length);
    for (int i = 0; i < left.length; i++) {
      if (plan.applies(i, endpoint)) {
        statuses.add(status(i));
      }
    }
    if (statuses.isEmpty()) {
      statuses.add(status(0));
    }
    return List.copyOf(statuses);
  }

  private LimitStatus status(int limit) {
    double missing = Math.max(0, quota(limit) * share - left[limit]);
    return new LimitStatus(
        plan.limits[limit].policy(),
        Math.max(0, (long) Math.floor(left[limit] + ROUNDING)),
        LimitLease.ceilMillis((long) Math.ceil(missing / permitsPerMicro(limit))));
  }
}
