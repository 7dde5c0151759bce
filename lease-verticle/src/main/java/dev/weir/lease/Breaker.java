package dev.weir.lease;

import dev.weir.config.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Says when a Redis that is connected is not worth waiting for: a circuit breaker.
 *
 * <p><b>Closed</b>, it counts faults: a call that fails, or that is late, which is to say without
 * an answer for longer than callers wait, whether or not the answer comes later. A timely answer
 * sets the count to 0, and {@value #FAULTS_IN_A_ROW} faults open it. One hiccup delays all calls
 * that are in flight, so faults that are less than two timeouts apart are one: it takes nine
 * timeouts without a single timely answer, long enough for a server that forks or is not scheduled
 * for a moment, and not so long that many callers wait in vain. <b>Open</b>, no call is to be made
 * for a while, as {@link Backoff} has it. <b>Half-open</b>, one probe is under way, which no caller
 * waits for: if it is timely the breaker closes, else it opens for longer. Only a timely call, not
 * a timely probe, makes the next opening a short one again: a server may have an answer for nothing
 * but the probe.
 *
 * <p>What is not the server's fault does not count:
 *
 * <ul>
 *   <li>While this process stands still (suspended, collecting garbage, without a CPU), answers lie
 *       in the socket. The owner therefore looks at short intervals while calls are in flight; a
 *       look that is itself late tells of a standstill, from whose end all calls are timed anew.
 *   <li>A cold process is slow to send and to read: a connection's first second is not judged.
 *   <li>Calls wait for those before them: each refill in flight adds {@value #REFILL_MICROS} us,
 *       some twice what a Redis takes for one, to what is still timely.
 * </ul>
 *
 * <p>Not {@code vertx-circuit-breaker}: it wraps a future per operation, with a timer for each, and
 * settles that future as failed when the time is over, whereas a late refill has to come to its
 * end, since its grant counts. It cannot tell late from failed, nor leave out what happens while
 * the process stands still, and its half-open probe is a caller's own operation.
 *
 * <p>Owned by one thread; {@link #isOpen} may be read by any.
 */
final class Breaker {
  static final int FAULTS_IN_A_ROW = 5;
  static final long REFILL_MICROS = 10;
  static final long UNJUDGED_MICROS = 1_000_000;

  private static final long LONGEST_LOOK_MILLIS = 100;

  /** Timers are good for about a millisecond, so that a standstill is more than that. */
  private static final long SHORTEST_STANDSTILL_MICROS = 2_000;

  private static final String LATE = "answers take longer than store.timeout";

  /** Acts on what the breaker finds. */
  interface Owner {

    /**
     * It has opened: no more calls but {@link #probe} after {@code pauseMillis}.
     *
     * @param reason in one line
     * @param again whether there has been no timely call since it last opened
     */
    void opened(String reason, long pauseMillis, boolean again);

    /** It has closed, and a call was timely. */
    void recovered();
  }

  /**
   * A call in flight.
   *
   * @param allowedMicros until it is late
   */
  record Call(long sentMicros, long allowedMicros, int refills, boolean probe) {}

  private enum State {
    CLOSED,
    OPEN,
    HALF_OPEN
  }

  private final Clock clock;
  private final Owner owner;
  private final Backoff backoff;
  private final long timeoutMicros;
  private final long lookMillis;
  private final long standstillMicros;
  private final Deque<Call> inFlight = new ArrayDeque<>();
  private int refillsInFlight;
  private int faults;
  private long faultMicros;
  private boolean troubled;
  private long judgedFromMicros;
  private long lookedMicros;
  private long stoodStillMicros = Long.MIN_VALUE;
  private volatile State state = State.CLOSED;

  /**
   * @param timeout how long a caller waits for an answer, above 0
   */
  Breaker(Clock clock, RandomGenerator random, Duration timeout, Owner owner) {
    this.clock = clock;
    this.owner = owner;
    this.backoff = new Backoff(random);
    this.timeoutMicros = timeout.toNanos() / 1000;
    this.lookMillis = Math.max(1, Math.min(LONGEST_LOOK_MILLIS, timeout.toMillis() / 4));
    this.standstillMicros =
        lookMillis * 1000 + Math.max(SHORTEST_STANDSTILL_MICROS, timeoutMicros / 2);
  }

  /** Whether no call is to be made; half-open it still is. */
  boolean isOpen() {
    return state != State.CLOSED;
  }

  /** There is a new connection: closed, and lenient at first. */
  void reset() {
    state = State.CLOSED;
    faults = 0;
    judgedFromMicros = clock.micros() + UNJUDGED_MICROS;
  }

  /** A call with so many refills leaves; to be told to {@link #answered} or {@link #failed}. */
  Call sent(int refills) {
    return send(refills, false);
  }

  /** The probe, which leaves now; none unless the breaker is open and no probe is under way. */
  Optional<Call> probe() {
    if (state != State.OPEN) {
      return Optional.empty();
    }
    state = State.HALF_OPEN;
    return Optional.of(send(0, true));
  }

  private Call send(int refills, boolean probe) {
    long now = clock.micros();
    if (inFlight.isEmpty()) {
      lookedMicros = now;
    }
    refillsInFlight += refills;
    Call call = new Call(now, timeoutMicros + refillsInFlight * REFILL_MICROS, refills, probe);
    inFlight.add(call);
    return call;
  }

  /** The answer is there, whatever it is worth. */
  void answered(Call call) {
    long now = settle(call);
    if (isLate(call, now)) {
      fault(call, now, LATE);
    } else if (call.probe) {
      close(now);
    } else if (now - call.sentMicros <= call.allowedMicros) {
      timely();
    }
  }

  /** The call has come to nothing. */
  void failed(Call call, String reason) {
    fault(call, settle(call), reason);
  }

  private long settle(Call call) {
    long now = clock.micros();
    if (inFlight.remove(call)) {
      refillsInFlight -= call.refills;
    }
    noticeStandstill(now);
    return now;
  }

  /** How often to {@link #look} while calls are in flight. */
  long lookMillis() {
    return lookMillis;
  }

  /**
   * Judges what has no answer yet.
   *
   * @return whether to look again
   */
  boolean look() {
    long now = clock.micros();
    noticeStandstill(now);
    lookedMicros = now;
    Call oldest = inFlight.peek();
    // A probe is left to come to its end, so that there is never a second one.
    if (oldest != null && !oldest.probe && isLate(oldest, now)) {
      fault(oldest, now, LATE);
    }
    return !inFlight.isEmpty();
  }

  private void noticeStandstill(long now) {
    if (now - lookedMicros > standstillMicros) {
      stoodStillMicros = now;
    }
  }

  private boolean isLate(Call call, long now) {
    return now - Math.max(call.sentMicros, stoodStillMicros) > call.allowedMicros;
  }

  private void fault(Call call, long now, String reason) {
    if (call.probe) {
      if (state == State.HALF_OPEN) {
        open(reason);
      }
      return;
    }
    boolean sameHiccup = faults > 0 && now - faultMicros < 2 * timeoutMicros;
    if (state != State.CLOSED || call.sentMicros < judgedFromMicros || sameHiccup) {
      return;
    }
    faultMicros = now;
    faults++;
    if (faults == FAULTS_IN_A_ROW) {
      open(reason);
    }
  }

  private void open(String reason) {
    boolean again = troubled;
    troubled = true;
    state = State.OPEN;
    owner.opened(reason, backoff.nextMillis(), again);
  }

  private void close(long now) {
    if (state == State.HALF_OPEN) {
      state = State.CLOSED;
      faults = 0;
      // What was sent before it opened has been counted.
      judgedFromMicros = now;
    }
  }

  private void timely() {
    if (state != State.CLOSED) {
      return;
    }
    faults = 0;
    backoff.reset();
    if (troubled) {
      troubled = false;
      owner.recovered();
    }
  }
}
