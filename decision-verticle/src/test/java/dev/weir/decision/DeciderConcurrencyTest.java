package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.Clock;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Refill;
import dev.weir.lease.Refills;
import dev.weir.lease.Store;
import dev.weir.lease.StoreClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several event loops on the same keys, with the store on a thread of its own. */
class DeciderConcurrencyTest {

  private static final int THREADS = 4;
  private static final int CHECKS = 40_000;
  private static final Duration YEAR = Duration.ofDays(365);

  private final ExecutorService loops = Executors.newFixedThreadPool(THREADS);
  private final ExecutorService storeLoop = Executors.newSingleThreadExecutor();
  private final Store store = TestStores.embedded(Clock.system());

  /** Callers beyond those that may wait are answered without the store, which is not exact. */
  private final Semaphore waiting = new Semaphore(Waiters.MOST - THREADS);

  private final CountedUsage usage = new CountedUsage(Duration.ofSeconds(60));
  private final LongAdder allowed = new LongAdder();

  @AfterEach
  void shutDown() {
    loops.shutdownNow();
    storeLoop.shutdownNow();
  }

  @Test
  void oneHotKeyIsAdmittedToTheUnitAndEveryCallerIsAnswered() throws Exception {
    Decider decider = decider(100, 100_000);
    hammer(decider, 1);
    assertThat(allowed.sum()).isEqualTo(100_000);
    assertCountedToTheUnit();
  }

  @Test
  void noUnitIsLostOrGainedByEvictionInTheMidstOfTraffic() throws Exception {
    Decider decider = decider(10, 1_000);
    hammer(decider, 40);
    assertThat(allowed.sum()).isEqualTo(40 * 1_000L);
    assertThat(decider.keys()).isLessThanOrEqualTo(40);
    assertCountedToTheUnit();
  }

  private void assertCountedToTheUnit() {
    assertThat(usage.spent()).isEqualTo(allowed.sum());
    assertThat(usage.denied()).isEqualTo(THREADS * CHECKS - allowed.sum());
  }

  private Decider decider(int maxKeys, long capacity) {
    Refills refills =
        (Refill refill, long wantedAt, Refills.Listener listener) ->
            storeLoop.execute(
                () -> listener.onOutcome(store.refill(List.of(refill)).get(0).result()));
    return new Decider(
        Clock.system(),
        refills,
        LeaseCeiling.of(0.01, Duration.ofSeconds(60)),
        maxKeys,
        Plans.config(Plans.bucket("p", 1, YEAR, capacity)),
        new StoreClock(Clock.system()),
        usage);
  }

  /** Asks four times as many times as can be allowed, on all loops at once. */
  private void hammer(Decider decider, int keys) throws Exception {
    CountDownLatch unanswered = new CountDownLatch(THREADS * CHECKS);
    List<Future<?>> runs = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int offset = t;
      runs.add(
          loops.submit(
              () -> {
                for (int i = 0; i < CHECKS; i++) {
                  ask(decider, "key" + (i + offset) % keys, unanswered);
                }
              }));
    }
    for (Future<?> run : runs) {
      run.get(60, TimeUnit.SECONDS);
    }
    assertThat(unanswered.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private void ask(Decider decider, String key, CountDownLatch unanswered) {
    waiting.acquireUninterruptibly();
    CheckRequest request = CheckRequest.of(key);
    Decision decision = decider.decideAtOnce(request);
    if (decision == null) {
      decision = decider.decideOrWait(request, late -> answered(late, unanswered));
    }
    if (decision != null) {
      answered(decision, unanswered);
    }
  }

  private void answered(Decision decision, CountDownLatch unanswered) {
    assertThat(decision.remaining()).isBetween(0L, decision.limit());
    if (decision.allowed()) {
      allowed.increment();
    }
    waiting.release();
    unanswered.countDown();
  }
}
