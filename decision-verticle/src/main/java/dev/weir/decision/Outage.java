package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import dev.weir.config.TokenBucket;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in for the store while it is away from one key: this node's part of each limit. What
 * is spent here is owed to the store, which hears of it when it is back.
 *
 * <p>It starts with this node's part of what the store had left at its last word, so that an outage
 * of a moment hands out nothing that the store would not have.
 *
 * <p>Belongs to a {@link KeyEntry} and is used under its monitor.
 */
final class Outage {

  /** Forgiven to sums of fractions, permits. */
  private static final double ROUNDING = 1e-6;

  private final BoundPlan plan;
  private final Part[] parts;

  /**
   * @param share of each limit that this node may spend, above 0, at most 1
   */
  Outage(BoundPlan plan, KeyEntry entry, double share, long nowMicros) {
    this.plan = plan;
    this.parts = new Part[plan.limits.length];
    for (int i = 0; i < parts.length; i++) {
      parts[i] =
          new Part(plan.limits[i], entry.lease(i), entry.chargedInFlight(i), share, nowMicros);
    }
  }

  Decision decide(KeyEntry entry, String endpoint, long cost, long nowMicros) {
    int last = -1;
    long longest = 0;
    for (int i = 0; i < parts.length; i++) {
      parts[i].advance(nowMicros);
      if (plan.applies(i, endpoint)) {
        long micros = parts[i].microsUntilFits(cost, nowMicros);
        if (micros > longest) {
          longest = micros;
          last = i;
        }
      }
    }
    if (last >= 0) {
      return denied(entry, last, endpoint, cost, longest, nowMicros);
    }
    for (int i = 0; i < parts.length; i++) {
      if (plan.applies(i, endpoint)) {
        parts[i].take(cost);
        entry.lease(i).owed -= cost;
      }
    }
    return allowed(entry, endpoint, nowMicros);
  }

  private Decision allowed(KeyEntry entry, String endpoint, long nowMicros) {
    List<LimitStatus> statuses = statuses(endpoint, nowMicros);
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
    boolean everFits = cost <= plan.limits[limit].quota();
    return new Decision.Denied(
        entry.key,
        plan.plan.name(),
        parts[limit].status(nowMicros),
        statuses(endpoint, nowMicros),
        entry.lease(limit).staleMillis(nowMicros),
        true,
        everFits ? Decision.Reason.LIMIT : Decision.Reason.COST_EXCEEDS_LIMIT,
        everFits ? LimitLease.ceilMillis(micros) : Decision.Denied.NEVER);
  }

  private List<LimitStatus> statuses(String endpoint, long nowMicros) {
    List<LimitStatus> statuses = new ArrayList<>(parts.length);
    for (int i = 0; i < parts.length; i++) {
      if (plan.applies(i, endpoint)) {
        statuses.add(parts[i].status(nowMicros));
      }
    }
    if (statuses.isEmpty()) {
      statuses.add(parts[0].status(nowMicros));
    }
    return List.copyOf(statuses);
  }

  /**
   * This node's part of one limit. A bucket fills at its part of the rate; of a window, of any
   * kind, there is a part anew when it ends.
   *
   * <p>A cost that the limit can hold fits after some waiting, even if the part cannot hold it: the
   * part then saves up for it. What is spent over the whole outage stays within the part all the
   * same.
   */
  private static final class Part {
    private final BoundLimit limit;
    private final double part;
    private final double permitsPerMicro;
    private final long windowMicros;
    private double capacity;
    private double left;
    private long atMicros;
    private long windowUntilMicros;

    Part(BoundLimit limit, LimitLease lease, long inFlight, double share, long nowMicros) {
      this.limit = limit;
      this.part = limit.quota() * share;
      this.capacity = part;
      this.left = Math.max(0, limit.quota() - lease.level(nowMicros) - inFlight) * share;
      this.atMicros = nowMicros;
      if (limit.algorithm() instanceof TokenBucket bucket) {
        this.permitsPerMicro = bucket.permitsPerMicro() * share;
        this.windowMicros = Long.MAX_VALUE;
        this.windowUntilMicros = Long.MAX_VALUE;
      } else {
        this.permitsPerMicro = 0;
        this.windowMicros = limit.policy().windowSeconds() * 1_000_000;
        long known = lease.windowUntilMicros();
        boolean underWay = known > nowMicros && known - nowMicros <= windowMicros;
        this.windowUntilMicros = underWay ? known : nowMicros + windowMicros;
      }
    }

    void advance(long nowMicros) {
      double gained = Math.max(0, nowMicros - atMicros) * permitsPerMicro;
      if (nowMicros >= windowUntilMicros) {
        long windows = 1 + (nowMicros - windowUntilMicros) / windowMicros;
        gained += windows * part;
        windowUntilMicros += windows * windowMicros;
      }
      left = Math.min(capacity, left + gained);
      atMicros = nowMicros;
    }

    void take(long cost) {
      left -= cost;
    }

    long microsUntilFits(long cost, long nowMicros) {
      double missing = cost - left;
      if (missing <= ROUNDING) {
        return 0;
      }
      capacity = Math.max(capacity, (double) Math.min(limit.quota(), cost));
      if (permitsPerMicro > 0) {
        return (long) Math.ceil((missing - ROUNDING / 2) / permitsPerMicro);
      }
      long windows = (long) Math.ceil((missing - ROUNDING / 2) / part);
      return windowUntilMicros - nowMicros + (windows - 1) * windowMicros;
    }

    LimitStatus status(long nowMicros) {
      long resetMicros =
          permitsPerMicro > 0
              ? (long) Math.ceil(Math.max(0, part - left) / permitsPerMicro)
              : windowUntilMicros - nowMicros;
      return new LimitStatus(
          limit.policy(),
          Math.max(0, (long) Math.floor(left + ROUNDING)),
          LimitLease.ceilMillis(resetMicros));
    }
  }
}
