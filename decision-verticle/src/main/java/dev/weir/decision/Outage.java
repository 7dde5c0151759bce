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
  private final double[] used;
  private long atMicros;

  /**
   * @param share of each limit that this node may spend, above 0, at most 1
   */
  Outage(BoundPlan plan, KeyEntry entry, double share, long nowMicros) {
    this.plan = plan;
    this.share = share;
    this.used = new double[plan.limits.length];
    this.atMicros = nowMicros;
    for (int i = 0; i < used.length; i++) {
      double left = Math.max(0, quota(i) - entry.lease(i).level(nowMicros));
      used[i] = capacity(i) - left * share;
    }
  }

  private double quota(int limit) {
    return plan.limits[limit].bucket().quota();
  }

  /** A part below one permit would never admit; one permit, at the rate of the part, does. */
  private double capacity(int limit) {
    return Math.min(quota(limit), Math.max(1, quota(limit) * share));
  }

  Decision decide(KeyEntry entry, String endpoint, long cost, long nowMicros) {
    leak(nowMicros);
    int last = -1;
    long longest = 0;
    for (int i = 0; i < used.length; i++) {
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
    for (int i = 0; i < used.length; i++) {
      if (plan.applies(i, endpoint)) {
        used[i] += cost;
        entry.lease(i).owed -= cost;
      }
    }
    return allowed(entry, endpoint, nowMicros);
  }

  private void leak(long nowMicros) {
    for (int i = 0; i < used.length; i++) {
      double elapsed = Math.max(0, nowMicros - atMicros) * share;
      used[i] = Math.max(0, used[i] - elapsed * plan.limits[i].bucket().permitsPerMicro());
    }
    atMicros = nowMicros;
  }

  private long microsUntilFits(int limit, long cost) {
    double over = used[limit] + cost - capacity(limit);
    return over <= ROUNDING
        ? 0
        : (long)
            Math.ceil(
                (over - ROUNDING / 2) / (plan.limits[limit].bucket().permitsPerMicro() * share));
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
    List<LimitStatus> statuses = new ArrayList<>(used.length);
    for (int i = 0; i < used.length; i++) {
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
    long left = Math.max(0, (long) Math.floor(capacity(limit) - used[limit] + ROUNDING));
    double toFill = used[limit] / (plan.limits[limit].bucket().permitsPerMicro() * share);
    return new LimitStatus(
        plan.limits[limit].policy(), left, LimitLease.ceilMillis((long) Math.ceil(toFill)));
  }
}
