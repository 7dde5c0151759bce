package dev.weir.decision;

import dev.weir.client.Decision;
import dev.weir.client.LimitStatus;
import dev.weir.config.FixedWindow;
import dev.weir.config.TokenBucket;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in for the store while it is away from one key: this node's part of each limit. What
 * is spent here is owed to the store, which hears of it when it is back; of what would not count
 * any more by then, had the store been there, it need not hear.
 *
 * <p>It starts with this node's part of what the store had left at its last word, so that an outage
 * of a moment hands out nothing that the store would not have.
 *
 * <p>It goes on for some time after the store is back. Nodes come back one after another, and what
 * the others have spent the store does not know before they have told it: whoever was first would
 * be granted that once more.
 *
 * <p>Belongs to a {@link KeyEntry} and is used under its monitor.
 */
final class Outage {

  /** Forgiven to sums of fractions, permits. */
  private static final double ROUNDING = 1e-6;

  private static final long AWAY = Long.MAX_VALUE;

  private final Part[] parts;
  private final int nodes;
  private long atMicros;

  /** When it ends, once the store is back. */
  private long untilMicros = AWAY;

  /** Of the limits that {@code entry} is bound to. */
  Outage(KeyEntry entry, int nodes, long nowMicros) {
    this.nodes = nodes;
    this.atMicros = nowMicros;
    BoundPlan plan = entry.bound();
    parts = new Part[plan.limits.length];
    for (int i = 0; i < parts.length; i++) {
      LimitLease lease = entry.lease(i);
      parts[i] =
          new Part(plan.limits[i], lease, entry.chargedInFlight(i), lease.share(nodes), nowMicros);
    }
  }

  /** Lets time pass until now: parts fill, and debts cease to count. */
  void advance(long nowMicros) {
    for (Part part : parts) {
      part.advance(nowMicros);
    }
    atMicros = nowMicros;
  }

  /** What stands in from the same moment on under the numbers that {@code entry} has now. */
  Outage under(KeyEntry entry) {
    Outage next = new Outage(entry, nodes, atMicros);
    next.untilMicros = untilMicros;
    return next;
  }

  /**
   * The store has answered for the key.
   *
   * @param restMicros until the other nodes have been answered as well
   */
  void back(long restMicros, long nowMicros) {
    untilMicros = Math.min(untilMicros, nowMicros + restMicros);
  }

  /** The store has failed the key again. */
  void awayAgain() {
    untilMicros = AWAY;
  }

  /** Whether the store is back, and the others may not be. */
  boolean rests(long nowMicros) {
    return untilMicros != AWAY && nowMicros < untilMicros;
  }

  boolean over(long nowMicros) {
    return nowMicros >= untilMicros;
  }

  /** Takes {@code cost}, whether it fits or not. */
  void take(KeyEntry entry, String endpoint, long cost, long nowMicros) {
    BoundPlan plan = entry.bound();
    advance(nowMicros);
    for (int i = 0; i < parts.length; i++) {
      if (plan.applies(i, endpoint)) {
        parts[i].take(cost);
      }
    }
  }

  /** The decision on a request whose cost no limit is too small for. */
  Decision decide(KeyEntry entry, String endpoint, long cost, long nowMicros) {
    BoundPlan plan = entry.bound();
    int last = -1;
    long longest = 0;
    advance(nowMicros);
    for (int i = 0; i < parts.length; i++) {
      if (plan.applies(i, endpoint)) {
        long micros = parts[i].microsUntilFits(cost, nowMicros);
        if (micros > longest) {
          longest = micros;
          last = i;
        }
      }
    }
    if (last >= 0) {
      return denied(entry, last, endpoint, longest, nowMicros);
    }
    take(entry, endpoint, cost, nowMicros);
    return allowed(entry, endpoint, nowMicros);
  }

  private Decision allowed(KeyEntry entry, String endpoint, long nowMicros) {
    List<LimitStatus> statuses = statuses(entry.bound(), endpoint, nowMicros);
    LimitStatus tightest = statuses.get(0);
    for (LimitStatus status : statuses) {
      if (status.remaining() < tightest.remaining()) {
        tightest = status;
      }
    }
    return new Decision.Allowed(
        entry.key,
        entry.bound().plan.name(),
        tightest,
        statuses,
        entry.staleMillis(nowMicros),
        true);
  }

  private Decision denied(KeyEntry entry, int limit, String endpoint, long micros, long nowMicros) {
    return new Decision.Denied(
        entry.key,
        entry.bound().plan.name(),
        parts[limit].status(nowMicros),
        statuses(entry.bound(), endpoint, nowMicros),
        entry.lease(limit).staleMillis(nowMicros),
        true,
        Decision.Reason.LIMIT,
        LimitLease.ceilMillis(micros));
  }

  private List<LimitStatus> statuses(BoundPlan plan, String endpoint, long nowMicros) {
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
   *
   * <p>A bucket's debt leaks at the part's rate once what the store has counted has leaked away,
   * for both are one level, of which this node has its share. A debt ends with the window that it
   * was made in, one of a window that slides, or of a log, with the next.
   */
  private static final class Part {
    private final BoundLimit limit;
    private final LimitLease lease;
    private final double share;
    private final double part;
    private final double permitsPerMicro;
    private final long windowMicros;
    private double capacity;
    private double left;
    private long atMicros;
    private long windowUntilMicros;

    /** Of what the store has counted, as of {@code atMicros}; of a bucket. */
    private double counted;

    /** Of the debt, a fraction of a permit; of a bucket. */
    private double leaked;

    /** Since the window began; what was owed before counts as such. */
    private long spent;

    Part(BoundLimit limit, LimitLease lease, long inFlight, double share, long nowMicros) {
      this.limit = limit;
      this.lease = lease;
      this.share = share;
      this.counted = lease.counted(nowMicros);
      this.spent = lease.debt();
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
      if (permitsPerMicro > 0) {
        double flowed = Math.max(0, nowMicros - atMicros) * permitsPerMicro;
        left = Math.min(capacity, left + flowed);
        leak(flowed, nowMicros);
      } else if (nowMicros >= windowUntilMicros) {
        long windows = 1 + (nowMicros - windowUntilMicros) / windowMicros;
        left = Math.min(capacity, Math.max(0, left) + windows * part);
        windowUntilMicros += windows * windowMicros;
        boolean lastCounts = windows == 1 && !(limit.algorithm() instanceof FixedWindow);
        lease.oweAtMost(lastCounts ? spent : 0);
        spent = 0;
      }
      atMicros = nowMicros;
    }

    private void leak(double flowed, long nowMicros) {
      double before = counted;
      counted = lease.counted(nowMicros);
      if (lease.debt() == 0) {
        leaked = 0;
      } else if (counted == 0) {
        leaked += Math.max(0, flowed - share * before);
      }
      if (leaked >= 1) {
        long whole = (long) leaked;
        leaked -= whole;
        lease.oweAtMost(lease.debt() - whole);
      }
    }

    void take(long cost) {
      left -= cost;
      spent += cost;
      lease.owe(cost);
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
