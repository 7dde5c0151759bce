package dev.weir.decision;

import dev.weir.client.LimitStatus;
import dev.weir.lease.LeaseSize;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What a node holds and knows of one limit of one key: the permits that it may spend, and the level
 * that the store last told.
 *
 * <p>Who writes what is told in {@link KeyEntry}.
 */
class LimitLease {

  private static final VarHandle PERMITS;

  static {
    try {
      PERMITS = MethodHandles.lookup().findVarHandle(LimitLease.class, "permits", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final long NEVER = Long.MIN_VALUE;

  BoundLimit limit;
  LeaseSize size = LeaseSize.INITIAL;

  /**
   * What the store does not know yet, permits: above 0, unspent permits on their way back; below 0,
   * units spent without its consent.
   */
  long owed;

  private volatile long permits;

  /** The store's level when it was last told, permits, those held here included. */
  private double used;

  private long syncedMicros = NEVER;

  final long permits() {
    return permits;
  }

  /** Spends {@code cost} permits if they are held. */
  final boolean take(long cost) {
    long held = permits;
    while (held >= cost) {
      if (PERMITS.compareAndSet(this, held, held - cost)) {
        return true;
      }
      held = permits;
    }
    return false;
  }

  /** Undoes a {@link #take}. */
  final void untake(long cost) {
    PERMITS.getAndAdd(this, cost);
  }

  /** Has all permits but {@code keep} owed to the store; tells whether there were any such. */
  final boolean giveBack(long keep) {
    long held = permits;
    while (held > keep) {
      if (PERMITS.compareAndSet(this, held, keep)) {
        owed += held - keep;
        return true;
      }
      held = permits;
    }
    return false;
  }

  /** Takes in a grant; it first pays for what was spent without the store. */
  final void deposit(long granted, double levelAfter, long nowMicros) {
    long paid = owed < 0 ? Math.min(granted, -owed) : 0;
    owed += paid;
    PERMITS.getAndAdd(this, granted - paid);
    learn(levelAfter, nowMicros);
  }

  /** Takes in the store's level. */
  final void learn(double level, long nowMicros) {
    used = level;
    syncedMicros = nowMicros;
  }

  /** Whether the store has told its level, ever. */
  final boolean known() {
    return syncedMicros != NEVER;
  }

  final boolean knownSince(long sinceMicros) {
    return syncedMicros >= sinceMicros;
  }

  /**
   * The level as far as known, permits: leaked since it was told, and with what is owed settled.
   */
  final double level(long nowMicros) {
    double leaked = known() ? limit.bucket().levelAfter(used, nowMicros - syncedMicros) : 0;
    return Math.max(0, leaked - owed);
  }

  /**
   * Microseconds until {@code cost} permits can be had, from the store and from here together; 0 if
   * it is worth asking now. Other nodes can only make it later.
   */
  final long microsUntil(long cost, long nowMicros) {
    return known() ? limit.bucket().microsUntilFits(level(nowMicros), cost - permits) : 0;
  }

  final long staleMillis(long nowMicros) {
    return known() ? Math.max(0, (nowMicros - syncedMicros) / 1000) : 0;
  }

  /** The limit with {@code held} permits still here, as of the store's last word. */
  final LimitStatus status(long held, long nowMicros) {
    return status(limit, used, held + owed, known() ? nowMicros - syncedMicros : 0);
  }

  /**
   * A limit at a level.
   *
   * @param unspent permits that the level counts as used, and that are not
   * @param elapsedMicros since the level was told; it ages the time of the reset, and not what
   *     remains, which is a count of the store's and ours and no estimate
   */
  static LimitStatus status(BoundLimit limit, double used, long unspent, long elapsedMicros) {
    long quota = limit.bucket().quota();
    // A level above the quota (numbers were lowered) leaves nothing, whatever is held of it.
    long remaining = Math.max(0, Math.min(quota, (long) Math.floor(left(limit, used)) + unspent));
    double level = limit.bucket().levelAfter(Math.max(0, used - unspent), elapsedMicros);
    return new LimitStatus(
        limit.policy(), remaining, ceilMillis(limit.bucket().microsUntilEmpty(level)));
  }

  private static double left(BoundLimit limit, double used) {
    // Levels are sums of doubles: 99.99999999 left of 100 is 100 left.
    return limit.bucket().quota() - used + 1e-6;
  }

  static long ceilMillis(long micros) {
    return micros / 1000 + (micros % 1000 > 0 ? 1 : 0);
  }

  /** Takes over what is known and owed of the same limit under other numbers. */
  final void succeed(BoundLimit next, LimitLease former) {
    limit = next;
    size = LeaseSize.INITIAL;
    owed = former.owed;
    used = former.used;
    syncedMicros = former.syncedMicros;
  }
}
