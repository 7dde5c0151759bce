package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Limit;
import dev.weir.config.Shard;
import dev.weir.config.TokenBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RefillQueueTest {

  private static final Limit LIMIT =
      new Limit("default", Set.of(), new TokenBucket(10, Duration.ofSeconds(1), 10));

  private final VirtualClock clock = new VirtualClock();
  private final HeldStore store = new HeldStore();
  private final Deque<Runnable> loop = new ArrayDeque<>();
  private final RefillQueue queue =
      new RefillQueue(
          store,
          clock,
          new StoreClock(clock),
          5_000,
          loop::add,
          new RefillMeters(new SimpleMeterRegistry()));

  @Test
  void whatGathersInOneTurnGoesOutAsOneBatch() {
    for (int i = 0; i < 100; i++) {
      queue.submit(refill("k" + i), clock.micros(), new Heard());
    }
    turn();
    assertThat(store.batches).hasSize(1);
    assertThat(store.batches.get(0)).hasSize(100);
  }

  @Test
  void aRefillOfALaterTurnGoesOutWithTheNextBatch() {
    queue.submit(refill("a"), clock.micros(), new Heard());
    turn();
    queue.submit(refill("b"), clock.micros(), new Heard());
    turn();
    assertThat(store.batches).hasSize(2);
  }

  @Test
  void anOutcomeInTimeIsHeardOnceAndNothingElse() {
    Heard heard = new Heard();
    queue.submit(refill("a"), clock.micros(), heard);
    turn();
    store.answer(0);
    clock.advance(Duration.ofSeconds(1));
    queue.expire();
    assertThat(heard.events).containsExactly("answered");
  }

  @Test
  void aLateOutcomeIsHeardAfterTheNotice() {
    Heard heard = new Heard();
    queue.submit(refill("a"), clock.micros(), heard);
    turn();
    clock.advance(Duration.ofMillis(5));
    assertThat(queue.expire()).isFalse();
    store.answer(0);
    assertThat(heard.events).containsExactly("overdue", "answered");
  }

  @Test
  void theDeadlineRunsFromTheMomentTheRefillWasWanted() {
    Heard heard = new Heard();
    long wanted = clock.micros();
    clock.advance(Duration.ofMillis(4));
    queue.submit(refill("a"), wanted, heard);
    turn();
    clock.advance(Duration.ofMillis(1));
    queue.expire();
    assertThat(heard.events).containsExactly("overdue");
  }

  @Test
  void anEarlierDeadlineIsNoticedThoughItWasHandedInLater() {
    Heard first = new Heard();
    Heard second = new Heard();
    long early = clock.micros();
    clock.advance(Duration.ofMillis(3));
    queue.submit(refill("a"), clock.micros(), first);
    queue.submit(refill("b"), early, second);
    turn();
    clock.advance(Duration.ofMillis(2));
    assertThat(queue.expire()).isTrue();
    assertThat(first.events).isEmpty();
    assertThat(second.events).containsExactly("overdue");
  }

  @Test
  void whatIsOverdueBeforeItWasSentIsNotSent() {
    Heard heard = new Heard();
    queue.submit(refill("a"), clock.micros(), heard);
    clock.advance(Duration.ofMillis(5));
    turn();
    assertThat(store.batches).isEmpty();
    assertThat(heard.events).containsExactly("unavailable, unsent");
  }

  @Test
  void aFullQueueAnswersAtOnceWithoutTheStore() {
    for (int i = 0; i < RefillQueue.CAPACITY; i++) {
      queue.submit(refill("k"), clock.micros(), new Heard());
    }
    Heard heard = new Heard();
    queue.submit(refill("k"), clock.micros(), heard);
    assertThat(heard.events).containsExactly("unavailable, unsent");
  }

  private void turn() {
    while (!loop.isEmpty()) {
      loop.remove().run();
    }
  }

  private static Refill refill(String key) {
    return new Refill(key, List.of(new Take(LIMIT, 0, 0, 1, 1)));
  }

  private static final class Heard implements Refills.Listener {
    final List<String> events = new ArrayList<>();

    @Override
    public void onOutcome(RefillOutcome outcome) {
      if (outcome instanceof RefillOutcome.Unavailable unavailable) {
        events.add(unavailable.unsent() ? "unavailable, unsent" : "unavailable");
      } else {
        events.add("answered");
      }
    }

    @Override
    public void onOverdue() {
      events.add("overdue");
    }
  }

  /** A store that answers when told. */
  private static final class HeldStore implements Store {
    final List<List<Refill>> batches = new ArrayList<>();
    final List<Promise<RefillOutcome>> promises = new ArrayList<>();

    void answer(int refill) {
      promises
          .get(refill)
          .complete(new RefillOutcome.Answered(1, List.of(new RefillOutcome.Level(1, 1, 1))));
    }

    @Override
    public List<Future<RefillOutcome>> refill(List<Refill> batch) {
      batches.add(List.copyOf(batch));
      List<Future<RefillOutcome>> outcomes = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        Promise<RefillOutcome> promise = Promise.promise();
        promises.add(promise);
        outcomes.add(promise.future());
      }
      return outcomes;
    }

    @Override
    public Future<Void> forget(String key, Shard shard, List<String> limitNames) {
      return Future.succeededFuture();
    }

    @Override
    public boolean immediate() {
      return false;
    }
  }
}
