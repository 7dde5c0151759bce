package dev.weir.lease;

import dev.weir.config.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Says when what of the journal is to be told to the store: one call after another, of this
 * process's counts and of those that dead processes have left, in turn. Owned by one thread, but
 * for what is read by meters.
 *
 * <p>Whoever drives it waits for {@link #waitMicros}, brings what {@link #next} gives to the store,
 * and tells the outcome by {@link #answered} or {@link #unanswered}; then again.
 */
final class UsageReporter {

  /** What is counted is reported within about this time. */
  static final long SWEEP_MICROS = 2_000_000;

  /** All nodes report to the Redis that also grants permits: a node takes a fifth of it at most. */
  static final long PAUSE_FACTOR = 4;

  static final long PAUSE_MICROS = 5_000;

  private static final class Incarnation {
    final IncarnationReports reports;
    long sweepAtMicros;
    long sweptAtMicros;

    Incarnation(IncarnationReports reports, long nowMicros) {
      this.reports = reports;
      this.sweepAtMicros = nowMicros;
      this.sweptAtMicros = nowMicros;
    }
  }

  private record Call(Incarnation incarnation, UsageBatch batch, long sentAtMicros) {}

  private final Clock clock;
  private final StoreClock storeClock;
  private final Supplier<String> node;
  private final Backoff backoff;

  /** The one whose turn is next comes first. */
  private final Deque<Incarnation> incarnations = new ArrayDeque<>();

  private Optional<Call> call = Optional.empty();
  private long resumeAtMicros;
  private long sealedUpToMillis;
  private boolean ending;

  /** All that had been counted by then has arrived. */
  private volatile long reportedAtMicros;

  private volatile int adopted;

  /**
   * @param own what this process counts
   * @param left by processes that have ended
   * @param node names this node to people
   */
  UsageReporter(
      JournaledIncarnation own,
      List<JournaledIncarnation> left,
      Supplier<String> node,
      Clock clock,
      StoreClock storeClock,
      RandomGenerator random) {
    this.clock = clock;
    this.storeClock = storeClock;
    this.node = node;
    this.backoff = new Backoff(random);
    long now = clock.micros();
    this.resumeAtMicros = now;
    this.reportedAtMicros = now;
    this.adopted = left.size();
    incarnations.add(new Incarnation(new IncarnationReports(own, false), now));
    for (JournaledIncarnation journal : left) {
      incarnations.add(new Incarnation(new IncarnationReports(journal, true), now));
    }
  }

  /** How long there is nothing to do, microseconds. */
  long waitMicros() {
    long now = clock.micros();
    long workAt = Long.MAX_VALUE;
    for (Incarnation incarnation : incarnations) {
      workAt = Math.min(workAt, incarnation.reports.idle() ? incarnation.sweepAtMicros : now);
    }
    return Math.max(0, Math.max(workAt, resumeAtMicros) - now);
  }

  /**
   * What to bring to the store now, if anything.
   *
   * @throws IllegalStateException if the outcome of the call before is not told
   */
  Optional<UsageBatch> next() {
    if (call.isPresent()) {
      throw new IllegalStateException("a batch is under way");
    }
    long now = clock.micros();
    for (int turn = incarnations.size(); turn > 0 && call.isEmpty(); turn--) {
      Incarnation incarnation = incarnations.remove();
      incarnations.add(incarnation);
      IncarnationReports reports = incarnation.reports;
      if (reports.idle() && now >= incarnation.sweepAtMicros) {
        incarnation.sweptAtMicros = now;
        incarnation.sweepAtMicros = ending ? now : now + SWEEP_MICROS;
        reports.sweep(storeClock.epochMillis(), sealedUpToMillis);
      }
      call =
          reports
              .next(node.get(), sealedUpToMillis)
              .map(batch -> new Call(incarnation, batch, now));
    }
    return call.map(Call::batch);
  }

  /**
   * The store has answered.
   *
   * @return false if it had no room for the batch
   */
  boolean answered(UsageReceipt receipt) {
    Call answered = take();
    long now = clock.micros();
    IncarnationReports reports = answered.incarnation.reports;
    sealedUpToMillis = Math.max(sealedUpToMillis, receipt.sealedUpToMillis());
    boolean taken = reports.answered(answered.batch, receipt, storeClock.epochMillis());
    if (reports.gone()) {
      incarnations.remove(answered.incarnation);
      adopted = (int) incarnations.stream().filter(i -> i.reports.adopted()).count();
    } else if (reports.idle() && !reports.adopted()) {
      reportedAtMicros = answered.incarnation.sweptAtMicros;
    }
    if (taken) {
      backoff.reset();
      resumeAtMicros = now + Math.max(PAUSE_MICROS, (now - answered.sentAtMicros) * PAUSE_FACTOR);
    } else {
      resumeAtMicros = now + backoff.nextMillis() * 1_000;
    }
    return taken;
  }

  /** The store did not answer. */
  void unanswered(boolean unsent) {
    Call failed = take();
    if (!unsent) {
      failed.incarnation.reports.unanswered(failed.batch);
    }
    resumeAtMicros = clock.micros() + backoff.nextMillis() * 1_000;
  }

  private Call take() {
    Call taken = call.orElseThrow(() -> new IllegalStateException("no batch is under way"));
    call = Optional.empty();
    return taken;
  }

  /** Nothing more is counted: reports everything to the end, without a wait. */
  void end() {
    ending = true;
    long now = clock.micros();
    for (Incarnation incarnation : incarnations) {
      incarnation.reports.end();
      incarnation.sweepAtMicros = now;
    }
  }

  /** Whether, after {@link #end}, everything has arrived and nothing is left in the journal. */
  boolean ended() {
    return incarnations.isEmpty();
  }

  /**
   * How long ago the store had all that this process had counted, seconds. Safe to read from any
   * thread.
   */
  double unreportedSeconds() {
    return (clock.micros() - reportedAtMicros) / 1e6;
  }

  /** Dead processes whose counts are not wholly reported and sealed. Safe from any thread. */
  int adopted() {
    return adopted;
  }
}
