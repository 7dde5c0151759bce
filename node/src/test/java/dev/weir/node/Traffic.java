package dev.weir.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Callers of one key who ask at a steady pace, each one call at a time. */
final class Traffic {

  /**
   * What came of it.
   *
   * @param seconds from before the first request to after the last answer
   */
  record Tally(long calls, long admitted, long degraded, long errors, double seconds) {}

  private static final int CALLERS_PER_NODE = 4;

  private final AtomicLong calls = new AtomicLong();
  private final AtomicLong admitted = new AtomicLong();
  private final AtomicLong degraded = new AtomicLong();
  private final AtomicLong errors = new AtomicLong();

  private Traffic() {}

  /** Checks of cost 1, about {@code callsPerSecond} in all, spread evenly over the nodes. */
  static Tally steady(
      String key, String plan, List<NodeClient> nodes, int callsPerSecond, Duration length) {
    return steady(key, plan, nodes, callsPerSecond, length, length, () -> {});
  }

  /** The same, with {@code meanwhile} done every {@code every}. */
  static Tally steady(
      String key,
      String plan,
      List<NodeClient> nodes,
      int callsPerSecond,
      Duration length,
      Duration every,
      Runnable meanwhile) {
    Traffic traffic = new Traffic();
    int callers = CALLERS_PER_NODE * nodes.size();
    long paceNanos = TimeUnit.SECONDS.toNanos(1) * callers / callsPerSecond;
    int callsEach = Math.toIntExact(length.toNanos() / paceNanos);
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(callers + 1);
    try {
      // Answers of the first call on a connection come late; they are no part of the traffic.
      nodes.forEach(node -> node.check(key, plan, 0));
      CountDownLatch running = new CountDownLatch(callers);
      long start = System.nanoTime();
      for (int caller = 0; caller < callers; caller++) {
        NodeClient node = nodes.get(caller % nodes.size());
        AtomicInteger left = new AtomicInteger(callsEach);
        var unused =
            timer.scheduleAtFixedRate(
                () -> {
                  int number = left.getAndDecrement();
                  if (number > 0) {
                    traffic.call(node, key, plan);
                  }
                  if (number == 1) {
                    running.countDown();
                  }
                },
                paceNanos * caller / callers,
                paceNanos,
                TimeUnit.NANOSECONDS);
      }
      var unused =
          timer.scheduleWithFixedDelay(
              meanwhile, every.toNanos(), every.toNanos(), TimeUnit.NANOSECONDS);
      if (!running.await(length.toSeconds() * 5 + 30, TimeUnit.SECONDS)) {
        throw new AssertionError("traffic did not end: " + traffic.tally(start));
      }
      return traffic.tally(start);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    } finally {
      timer.shutdownNow();
    }
  }

  private Tally tally(long start) {
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Tally(calls.get(), admitted.get(), degraded.get(), errors.get(), seconds);
  }

  /** Never throws, since that would end the caller's schedule. */
  private void call(NodeClient node, String key, String plan) {
    calls.incrementAndGet();
    try {
      Answer answer = node.check(key, plan, 1);
      if (answer.admitted()) {
        admitted.incrementAndGet();
      }
      if (answer.degraded()) {
        degraded.incrementAndGet();
      }
    } catch (AssertionError | RuntimeException e) {
      errors.incrementAndGet();
    }
  }
}
