package dev.weir.decision;

import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.lease.LeaseSize;
import dev.weir.lease.Take;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What a node holds and knows of one limit of one key: the permits that it may spend, and the level
 * that the store last told.
 *
 * <p>It is also the node's share of the limit, since a million keys would pay for the indirection.
 * Who writes what is told in {@link KeyEntry}.
 */
abstract class LimitLease extends NodeShare {

  private static final VarHandle PERMITS;

  static {
    try {
      PERMITS = MethodHandles.lookup().findVarHandle(LimitLease.class, "permits", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final long NEVER = Long.MIN_VALUE;

  /** No epoch of the store. */
  private static final int ELSEWHERE = -1;

  private static final Window NO_WINDOW = new Window(Consumption.NONE, 0, Long.MAX_VALUE, false);
  private static final Window NO_WINDOW_RESERVED =
      new Window(Consumption.NONE, 0, Long.MAX_VALUE, true);

  /** How long a limit of which some is reserved, and may go back, is taken for used up. */
  private static final long RESERVED_MICROS = 1_000_000;

  /** Levels are sums of doubles: 99.99999999 left of 100 is 100 left. */
  private static final double ROUNDING = 1e-6;

  /** What a limit can owe, permits; a thousand times what it can hold, and far from overflowing. */
  private static final long MAX_DEBT = 1_000 * Algorithm.MAX_QUOTA;

  LeaseSize size = LeaseSize.INITIAL;

  /**
   * What the store does not know yet, permits: above 0, unspent permits on their way back; below 0,
   * units spent without its consent.
   */
  long owed;

  private volatile long permits;

  /** What the store last told to be used, permits, those held here included. */
  private double used;

  /** The rest of what it told, of a windowed limit. */
  private Window window = NO_WINDOW;

  private long syncedMicros = NEVER;

  /** The epoch of the store in which it was told; in half the room that is enough to compare. */
  private int epoch;

  /**
   * The window that permits are held of.
   *
   * @param told of it
   * @param endMicros when it ends, by the store's clock
   * @param untilMicros when it is over at the latest, by the node's clock
   * @param reserved whether some of it was when the store told its level
   */
  private record Window(Consumption told, long endMicros, long untilMicros, boolean reserved) {}

  /**
   * A word of the store.
   *
   * @param reserved whether some of it is, and may go back at any time
   * @param askedMicros when the node asked, before the store counted
   * @param nowMicros when the word arrived
   * @param storeMicros when the store counted, by its own clock
   * @param epoch of the store
   */
  record Told(
      Consumption consumption,
      boolean reserved,
      long askedMicros,
      long nowMicros,
      long storeMicros,
      long epoch) {}

  /** The limit that permits are held of. */
  abstract BoundLimit limit();

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

  /** Has {@code cost} permits charged that were spent without the store. */
  final void owe(long cost) {
    owed = Math.max(-MAX_DEBT, owed - cost);
  }

  /** Permits spent without the store that it does not know of yet. */
  final long debt() {
    return Math.max(0, -owed);
  }

  /** Forgives what is owed above {@code debt}, which would not count any more. */
  final void oweAtMost(long debt) {
    if (debt() > debt) {
      owed = -Math.max(0, debt);
    }
  }

  /** Takes in a grant; it first pays for what was spent without the store. */
  final void deposit(long granted) {
    long paid = owed < 0 ? Math.min(granted, -owed) : 0;
    owed += paid;
    PERMITS.getAndAdd(this, granted - paid);
  }

  /**
   * Takes in what the store has counted.
   *
   * @param counted the limit's algorithm when the store was asked, which may have changed since
   */
  final void learn(Algorithm counted, Told told) {
    Consumption consumption = told.consumption();
    used = consumption.used();
    epoch = (int) told.epoch();
    syncedMicros = isOfMyKind(counted) ? told.nowMicros() : NEVER;
    if (!counted.windowed()) {
      window = told.reserved() ? NO_WINDOW_RESERVED : NO_WINDOW;
      return;
    }
    long end = told.storeMicros() + consumption.leftMicros();
    if (end != window.endMicros() && counted.leasable()) {
      // Permits of a window are spent in it, or go back to it, or nowhere; and it is over.
      PERMITS.setVolatile(this, 0L);
      owed = Math.min(0, owed);
    }
    Window latest =
        new Window(
            consumption, end, told.askedMicros() + consumption.leftMicros(), told.reserved());
    window = counted.equals(limit().algorithm()) ? latest : underOtherNumbers(latest);
  }

  private boolean isOfMyKind(Algorithm other) {
    return other.getClass() == limit().algorithm().getClass();
  }

  /** When a cost fits a log is told for its numbers alone; a window's counts hold for any. */
  private Window underOtherNumbers(Window told) {
    return limit().algorithm().leasable()
        ? told
        : new Window(
            new Consumption(used, 0, 0), told.endMicros(), told.untilMicros(), told.reserved());
  }

  /** When the window of the permits is over at the latest. */
  final long windowUntilMicros() {
    return window.untilMicros();
  }

  /** The end of the window that permits were granted in, by the store's clock; 0 for a bucket. */
  final long windowEndMicros() {
    return window.endMicros();
  }

  private Consumption consumption() {
    return window.endMicros() == 0 ? Consumption.ofBucket(used) : window.told();
  }

  /** What the store was last heard to have counted, should it have lost that. */
  final Take.Told lastTold(long nowMicros) {
    if (!known()) {
      return Take.Told.NOTHING;
    }
    Algorithm algorithm = limit().algorithm();
    boolean ofWindow = algorithm.windowed() && algorithm.leasable();
    return new Take.Told(
        ofWindow ? used : algorithm.levelAfter(consumption(), nowMicros - syncedMicros), epoch);
  }

  /** Whether some was reserved when the store last told of it. */
  final boolean reserved() {
    return window.reserved();
  }

  /** Whether the store has told its level, ever. */
  final boolean known() {
    return syncedMicros != NEVER;
  }

  /** Whether the store has spoken at most {@code micros} ago. */
  final boolean heardWithin(long micros, long nowMicros) {
    return known() && nowMicros - syncedMicros <= micros;
  }

  /** Whether the store's last word, at most {@code ageMicros} old, can still be told. */
  final boolean isFresh(long nowMicros, long ageMicros) {
    // What has come this moment is fresh even of a window that ends in the same.
    return syncedMicros == nowMicros
        || (limit().limit().leased()
            && syncedMicros >= nowMicros - ageMicros
            && nowMicros < window.untilMicros());
  }

  /** The level as far as known, permits, as of now, and with what is owed settled. */
  final double level(long nowMicros) {
    return Math.max(0, counted(nowMicros) - owed);
  }

  /** The same of what the store has counted alone. */
  final double counted(long nowMicros) {
    return known() ? limit().algorithm().levelAfter(consumption(), nowMicros - syncedMicros) : 0;
  }

  /** The same as of when it did. */
  final double lastCounted() {
    return known() ? limit().algorithm().levelAfter(consumption(), 0) : 0;
  }

  /**
   * Microseconds until {@code cost} permits can be had, from the store and from here together; 0 if
   * it is worth asking now. Other nodes can only make it later.
   */
  final long microsUntil(long cost, long nowMicros) {
    // A limit that is not leased asks for each decision; what was told holds for this moment only.
    return limit().limit().leased() || syncedMicros == nowMicros
        ? microsUntilRoom(cost, permits + owed, nowMicros)
        : 0;
  }

  /**
   * Microseconds until the store has room for {@code cost} permits, by its last word; as above.
   *
   * @param back permits that it counts, and that go back to the window that they are of
   */
  final long microsUntilRoom(long cost, long back, long nowMicros) {
    if (!known()) {
      return 0;
    }
    if (window.reserved() && nowMicros - syncedMicros > RESERVED_MICROS) {
      return 0;
    }
    Algorithm algorithm = limit().algorithm();
    long missing = cost - back;
    if (missing > limit().quota() && algorithm.windowed()) {
      // What was spent without the store fills more than a window: in which, only it will tell.
      return 0;
    }
    Consumption told = consumption();
    long elapsed = nowMicros - syncedMicros;
    long micros = algorithm.microsUntilFits(told, elapsed, missing);
    if (back <= 0 || nowMicros + micros < window.untilMicros()) {
      return micros;
    }
    // By then that window is over, and what goes back to it makes less room than it takes.
    return Math.max(micros, algorithm.microsUntilFits(without(told, back), elapsed, cost));
  }

  private static Consumption without(Consumption told, long back) {
    return new Consumption(
        Math.max(0, told.used() - back),
        told.previous(),
        told.leftMicros(),
        told.usedCame(),
        told.previousCame());
  }

  final long staleMillis(long nowMicros) {
    return known() ? Math.max(0, (nowMicros - syncedMicros) / 1000) : 0;
  }

  /** The limit as of the store's last word, with the permits that are still here. */
  final LimitStatus status(long nowMicros) {
    long elapsed = known() ? Math.max(0, nowMicros - syncedMicros) : 0;
    return status(limit(), consumption(), permits + owed, elapsed);
  }

  /**
   * A limit as the store has counted it.
   *
   * @param unspent permits that are counted as used, and that are not
   * @param elapsedMicros since the store counted; it ages the time of the reset, and not what
   *     remains, which is a count of the store's and ours and no estimate
   */
  static LimitStatus status(BoundLimit limit, Consumption told, long unspent, long elapsedMicros) {
    long quota = limit.quota();
    double left = quota - limit.algorithm().levelAfter(told, 0) + ROUNDING;
    // A level above the quota (numbers were lowered) leaves nothing, whatever is held of it.
    long remaining = Math.max(0, Math.min(quota, (long) Math.floor(left) + unspent));
    long resetMicros = limit.algorithm().microsUntilReset(without(told, unspent), elapsedMicros);
    return new LimitStatus(limit.policy(), remaining, ceilMillis(resetMicros));
  }

  static long ceilMillis(long micros) {
    return micros / 1000 + (micros % 1000 > 0 ? 1 : 0);
  }

  /** Drops what is held, owed and known: the store has forgotten it. */
  final void clear() {
    PERMITS.setVolatile(this, 0L);
    owed = 0;
    used = 0;
    window = NO_WINDOW;
    syncedMicros = NEVER;
  }

  /** Knows nothing, as of a key that has just come. */
  final void begin() {
    clear();
    size = LeaseSize.INITIAL;
    epoch = 0;
    unheard();
  }

  /** Has what is known of it told to another counter, which does not know it in any epoch. */
  final void toldElsewhere() {
    epoch = ELSEWHERE;
  }

  /** Knows, of one of the sub-counters of a limit, its part of what is known of {@code whole}. */
  final void carryPart(LimitLease whole) {
    inherit(whole);
    used = partOf(whole.used);
    Consumption told = whole.window.told();
    window =
        new Window(
            new Consumption(
                partOf(told.used()),
                partOf(told.previous()),
                told.leftMicros(),
                told.usedCame(),
                told.previousCame()),
            whole.window.endMicros(),
            whole.window.untilMicros(),
            false);
    syncedMicros = whole.syncedMicros;
    epoch = ELSEWHERE;
  }

  private double partOf(double units) {
    return limit().limit().shard().partOf((long) Math.ceil(units - ROUNDING));
  }

  /** Takes over what is known and owed of the same limit under other numbers. */
  final void succeed(LimitLease former) {
    size = LeaseSize.INITIAL;
    inherit(former);
    owed = former.owed;
    used = former.used;
    epoch = former.epoch;
    window = underOtherNumbers(former.window);
    // What another algorithm has counted means nothing to this one; the store carries it over.
    boolean same = former.known() && isOfMyKind(former.limit().algorithm());
    syncedMicros = same ? former.syncedMicros : NEVER;
  }
}
