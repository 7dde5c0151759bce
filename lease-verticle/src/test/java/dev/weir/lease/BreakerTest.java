package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class BreakerTest {
  private static final int TIMEOUT_MILLIS = 5;

  private final Shard shard = new Shard(1);

  @Test
  void timelyAnswersLeaveItClosed() {
    for (int i = 0; i < 1000; i++) {
      shard.call(TIMEOUT_MILLIS);
    }
    assertThat(shard.events).isEmpty();
  }

  @Test
  void aSlowServerIsLeftAloneAfterFiveLateAnswers() {
    for (int i = 0; i < Breaker.FAULTS_IN_A_ROW; i++) {
      assertThat(shard.breaker.isOpen()).isFalse();
      shard.call(10);
    }
    assertThat(shard.breaker.isOpen()).isTrue();
    assertThat(shard.events).containsExactly("opened: answers take longer than store.timeout");
  }

  @Test
  void aTimelyAnswerBetweenSetsTheCountToZero() {
    for (int round = 0; round < 10; round++) {
      for (int i = 1; i < Breaker.FAULTS_IN_A_ROW; i++) {
        shard.call(10);
      }
      shard.call(1);
    }
    assertThat(shard.events).isEmpty();
  }

  @Test
  void aServerThatSaysNothingIsLeftAloneAfterNineTimeouts() {
    shard.send(1);
    shard.pass(9 * TIMEOUT_MILLIS);
    assertThat(shard.breaker.isOpen()).isFalse();
    shard.pass(2);
    assertThat(shard.breaker.isOpen()).isTrue();
  }

  @Test
  void oneHiccupIsOneFaultHoweverManyCallsItDelays() {
    List<Breaker.Call> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(shard.send(1));
    }
    shard.pass(4 * TIMEOUT_MILLIS);
    calls.forEach(shard.breaker::answered);
    assertThat(shard.breaker.isOpen()).isFalse();
  }

  @Test
  void callsThatFailCountLikeLateOnes() {
    for (int i = 0; i < Breaker.FAULTS_IN_A_ROW; i++) {
      shard.breaker.failed(shard.send(1), "MISCONF no disk");
      shard.pass(2 * TIMEOUT_MILLIS);
    }
    assertThat(shard.events).containsExactly("opened: MISCONF no disk");
  }

  @Test
  void aStandstillOfThisProcessIsNotTheServersFault() {
    for (int i = 0; i < 20; i++) {
      Breaker.Call call = shard.send(1);
      shard.pass(1);
      // The answer may be read before or after the look that is late.
      shard.clock.advance(Duration.ofMillis(300));
      if (i % 2 == 0) {
        shard.breaker.look();
      }
      shard.breaker.answered(call);
      shard.breaker.look();
    }
    assertThat(shard.breaker.isOpen()).isFalse();
  }

  @Test
  void callsAreTimedAnewFromTheEndOfAStandstill() {
    Breaker.Call call = shard.send(1);
    shard.clock.advance(Duration.ofSeconds(1));
    shard.pass(9 * TIMEOUT_MILLIS);
    assertThat(shard.breaker.isOpen()).isFalse();
    shard.pass(TIMEOUT_MILLIS);
    assertThat(shard.breaker.isOpen()).isTrue();
    shard.breaker.answered(call);
  }

  @Test
  void theFirstSecondOfAConnectionIsNotJudged() {
    shard.breaker.reset();
    for (int i = 0; i < 100; i++) {
      shard.call(10);
    }
    assertThat(shard.breaker.isOpen()).isFalse();
    for (int i = 0; i < Breaker.FAULTS_IN_A_ROW; i++) {
      shard.call(10);
    }
    assertThat(shard.breaker.isOpen()).isTrue();
  }

  @Test
  void fullCallsMayTakeTheTimeOfTheirRefills() {
    for (int round = 0; round < 20; round++) {
      List<Breaker.Call> calls = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        calls.add(shard.send(RedisShard.REFILLS_PER_CALL));
      }
      for (Breaker.Call call : calls) {
        shard.pass(2);
        shard.breaker.answered(call);
      }
    }
    assertThat(shard.breaker.isOpen()).isFalse();
  }

  @Test
  void aNewConnectionClosesIt() {
    shard.open();
    shard.breaker.reset();
    assertThat(shard.breaker.isOpen()).isFalse();
    assertThat(shard.breaker.probe()).isEmpty();
  }

  @Test
  void onlyATimelyCallAfterATimelyProbeIsARecovery() {
    shard.open();
    shard.breaker.answered(shard.breaker.probe().orElseThrow());
    assertThat(shard.breaker.isOpen()).isFalse();
    assertThat(shard.events).hasSize(1);
    shard.call(1);
    assertThat(shard.events).hasSize(2).last().isEqualTo("recovered");
  }

  @Test
  void aServerThatAnswersNothingButTheProbeIsLeftAloneForLongerEachTime() {
    List<Long> ceilings = new ArrayList<>();
    for (int round = 0; round < 10; round++) {
      shard.open();
      ceilings.add(shard.ceilingMillis);
      shard.breaker.answered(shard.breaker.probe().orElseThrow());
    }
    assertThat(ceilings).startsWith(50L, 100L, 200L).endsWith(2000L, 2000L);
    assertThat(shard.events.subList(1, 10)).allMatch(event -> event.startsWith("opened again"));
  }

  @Test
  void answersThatWereUnderWayDoNotCloseIt() {
    Breaker.Call late = shard.send(1);
    shard.pass(12 * TIMEOUT_MILLIS);
    Breaker.Call last = shard.breaker.sent(1);
    shard.breaker.answered(late);
    shard.breaker.answered(last);
    assertThat(shard.breaker.isOpen()).isTrue();
    shard.breaker.answered(shard.breaker.probe().orElseThrow());
    assertThat(shard.breaker.isOpen()).isFalse();
  }

  /** What the server, or time, does next. */
  record Move(Kind kind, int millis) {}

  enum Kind {
    SEND,
    ANSWER,
    FAIL,
    PASS,
    STAND_STILL,
    ASK_FOR_A_PROBE,
    CONNECT_ANEW
  }

  @Property(tries = 2000)
  void thereIsOneProbeAtATimeAndOneThatIsTimelyCloses(
      @ForAll("moves") List<Move> moves, @ForAll long seed) {
    Shard any = new Shard(seed);
    for (Move move : moves) {
      switch (move.kind) {
        case SEND -> {
          if (!any.breaker.isOpen()) {
            any.send(1 + move.millis);
          }
        }
        case ANSWER -> any.settleOldest(Optional.empty());
        case FAIL -> any.settleOldest(Optional.of("OOM"));
        case PASS -> any.pass(move.millis);
        case STAND_STILL -> any.clock.advance(Duration.ofMillis(50L * move.millis));
        case ASK_FOR_A_PROBE -> any.probe();
        case CONNECT_ANEW -> any.connectAnew();
      }
      any.assertSound();
    }
    // Whatever has been, a server that is fast again is asked again.
    for (int millis = 0; millis < 2 * Backoff.LONGEST_MILLIS; millis++) {
      while (!any.inFlight.isEmpty()) {
        any.settleOldest(Optional.empty());
      }
      any.pass(1);
    }
    assertThat(any.breaker.isOpen()).isFalse();
  }

  @Provide
  Arbitrary<List<Move>> moves() {
    Arbitrary<Move> any =
        Combinators.combine(Arbitraries.of(Kind.class), Arbitraries.integers().between(1, 30))
            .as(Move::new);
    // Rare by itself: late answers in a row.
    Arbitrary<List<Move>> slow =
        Arbitraries.integers()
            .between(6, 40)
            .map(
                millis ->
                    List.of(
                        new Move(Kind.SEND, 1),
                        new Move(Kind.PASS, 2 * millis),
                        new Move(Kind.ANSWER, 1)));
    return Arbitraries.oneOf(any.map(List::of), slow, slow)
        .list()
        .ofMaxSize(60)
        .map(parts -> parts.stream().flatMap(List::stream).toList());
  }

  /** What owns a breaker, on virtual time: looks when it should, and probes when it may. */
  private static final class Shard implements Breaker.Owner {
    final VirtualClock clock = new VirtualClock();
    final List<String> events = new ArrayList<>();
    final Deque<Breaker.Call> inFlight = new ArrayDeque<>();
    final Breaker breaker;
    long ceilingMillis;
    private long probeAtMillis = Long.MAX_VALUE;
    private long openings;

    Shard(long seed) {
      breaker = new Breaker(clock, new Random(seed), Duration.ofMillis(TIMEOUT_MILLIS), this);
    }

    @Override
    public void opened(String reason, long pauseMillis, boolean again) {
      openings = again ? openings + 1 : 0;
      ceilingMillis = Math.min(Backoff.LONGEST_MILLIS, Backoff.FIRST_MILLIS << openings);
      assertThat(pauseMillis).isBetween(ceilingMillis / 2, ceilingMillis);
      events.add((again ? "opened again: " : "opened: ") + reason);
      probeAtMillis = clock.epochMillis() + pauseMillis;
    }

    @Override
    public void recovered() {
      events.add("recovered");
    }

    Breaker.Call send(int refills) {
      Breaker.Call call = breaker.sent(refills);
      inFlight.add(call);
      return call;
    }

    void call(int millis) {
      Breaker.Call call = breaker.sent(1);
      pass(millis);
      breaker.answered(call);
    }

    void open() {
      while (!breaker.isOpen()) {
        call(20);
      }
    }

    /** Time, in which this process keeps running. */
    void pass(int millis) {
      for (int i = 0; i < millis; i++) {
        clock.advance(Duration.ofMillis(1));
        breaker.look();
        if (clock.epochMillis() >= probeAtMillis) {
          probe();
        }
      }
    }

    void probe() {
      Optional<Breaker.Call> probe = breaker.probe();
      probe.ifPresent(
          call -> {
            inFlight.add(call);
            probeAtMillis = Long.MAX_VALUE;
          });
    }

    void settleOldest(Optional<String> failure) {
      Breaker.Call oldest = inFlight.poll();
      if (oldest == null) {
        return;
      }
      boolean timely = clock.micros() - oldest.sentMicros() <= TIMEOUT_MILLIS * 1000;
      failure.ifPresentOrElse(
          reason -> breaker.failed(oldest, reason), () -> breaker.answered(oldest));
      if (oldest.probe() && failure.isPresent()) {
        assertThat(breaker.isOpen()).isTrue();
      } else if (oldest.probe() && timely) {
        assertThat(breaker.isOpen()).isFalse();
      }
    }

    void connectAnew() {
      breaker.reset();
      probeAtMillis = Long.MAX_VALUE;
      while (!inFlight.isEmpty()) {
        breaker.failed(inFlight.poll(), "connection closed");
      }
      assertThat(breaker.isOpen()).isFalse();
    }

    void assertSound() {
      assertThat(inFlight.stream().filter(Breaker.Call::probe).count()).isLessThanOrEqualTo(1);
      assertThat(breaker.isOpen() || probeAtMillis == Long.MAX_VALUE).isTrue();
    }
  }
}
