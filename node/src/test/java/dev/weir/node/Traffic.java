package dev.weir.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;

/**
 * Callers who ask at a steady pace, each one call at a time, over a few connections to each node. A
 * caller whose answer takes long falls behind, and does not catch up. Those of a node that has left
 * the list of nodes go to another, as a load balancer would have it. Ends by itself after {@value
 * #MOST_CALLS} calls.
 */
final class Traffic implements AutoCloseable {

  /**
   * Checks of cost 1.
   *
   * @param callsPerSecond in all, spread evenly over the nodes
   */
  record Demand(String key, String plan, int callsPerSecond) {}

  /**
   * One check. It was decided at some time between its two times.
   *
   * @param node the index of the node that was asked
   * @param error what is wrong with the answer, empty if it is a yes or a no
   */
  record Call(
      String key,
      int node,
      long sentNanos,
      long answeredNanos,
      boolean admitted,
      boolean degraded,
      String error) {}

  /** What came of it, in the order of the answers. */
  record Tally(List<Call> calls) {

    private static final int ERRORS_SHOWN = 5;

    /** What came of the calls of one key. */
    Tally of(String key) {
      return where(call -> call.key.equals(key));
    }

    /** What came of the calls to one node. */
    Tally on(int node) {
      return where(call -> call.node == node);
    }

    private Tally where(Predicate<Call> condition) {
      return new Tally(calls.stream().filter(condition).toList());
    }

    /** The last {@code count}, or all if there are fewer. */
    Tally last(int count) {
      return new Tally(calls.subList(Math.max(0, calls.size() - count), calls.size()));
    }

    long admitted() {
      return calls.stream().filter(Call::admitted).count();
    }

    long denied() {
      return calls.size() - admitted() - errors().size();
    }

    long degraded() {
      return calls.stream().filter(Call::degraded).count();
    }

    /** What was answered other than by a yes or a no, and what was not answered. */
    List<String> errors() {
      return calls.stream().map(Call::error).filter(error -> !error.isEmpty()).toList();
    }

    /** From before the first request to after the last answer. */
    double seconds() {
      return calls.isEmpty() ? 0 : (lastAnswer() - firstRequest()) / 1e9;
    }

    private long firstRequest() {
      return calls.stream().mapToLong(Call::sentNanos).min().orElseThrow();
    }

    private long lastAnswer() {
      return calls.get(calls.size() - 1).answeredNanos;
    }

    /**
     * The largest number of units that were admitted in any interval, beyond what flows in at
     * {@code unitsPerSecond} during it: a bucket of this capacity would have allowed all. Counts
     * what was both asked and answered within the interval, which was certainly decided in it, so
     * that the times of requests and answers need no margin.
     */
    double burst(double unitsPerSecond) {
      List<Call> units = calls.stream().filter(Call::admitted).toList();
      double most = 0;
      for (Call first : units) {
        int count = 0;
        for (Call unit : units) {
          if (unit.sentNanos >= first.sentNanos) {
            count++;
            double seconds = (unit.answeredNanos - first.sentNanos) / 1e9;
            most = Math.max(most, count - unitsPerSecond * seconds);
          }
        }
      }
      return most;
    }

    /**
     * What a bucket that all nodes shared would have allowed of the same calls, had it been there
     * to decide each at the time of its answer.
     */
    long allowedByBucket(double capacity, double unitsPerSecond) {
      long allowed = 0;
      double used = 0;
      long last = 0;
      for (Call call : calls) {
        used = Math.max(0, used - unitsPerSecond * (call.answeredNanos - last) / 1e9);
        last = call.answeredNanos;
        if (call.error.isEmpty() && used + 1 <= capacity) {
          used++;
          allowed++;
        }
      }
      return allowed;
    }

    private List<Long> perSecond(Predicate<Call> condition) {
      if (calls.isEmpty()) {
        return List.of();
      }
      long start = firstRequest();
      long seconds = TimeUnit.NANOSECONDS.toSeconds(lastAnswer() - start) + 1;
      var counts =
          calls.stream()
              .filter(condition)
              .collect(
                  Collectors.groupingBy(
                      call -> TimeUnit.NANOSECONDS.toSeconds(call.answeredNanos - start),
                      Collectors.counting()));
      return LongStream.range(0, seconds).mapToObj(s -> counts.getOrDefault(s, 0L)).toList();
    }

    @Override
    public String toString() {
      List<String> errors = errors();
      return "%d calls in %.2f s: %d admitted, %d denied, %d degraded, %d errors %s%n"
              .formatted(
                  calls.size(),
                  seconds(),
                  admitted(),
                  denied(),
                  degraded(),
                  errors.size(),
                  errors.subList(0, Math.min(ERRORS_SHOWN, errors.size())))
          + "each second: %s, admitted %s, degraded %s"
              .formatted(
                  perSecond(call -> true), perSecond(Call::admitted), perSecond(Call::degraded));
    }
  }

  private static final int CALLERS_PER_NODE = 4;
  private static final int MOST_CALLS = 50_000;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final List<NodeClient> nodes;
  private final List<Demand> demands;
  private final ScheduledExecutorService callers;
  private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
  private final AtomicInteger left = new AtomicInteger(MOST_CALLS);

  private Traffic(List<NodeClient> nodes, List<Demand> demands) {
    this.nodes = nodes;
    this.demands = demands;
    callers = Executors.newScheduledThreadPool(CALLERS_PER_NODE * nodes.size() * demands.size());
  }

  /**
   * Begins to ask, and goes on until it is closed.
   *
   * @param nodes to ask; if some come and go, a list that may change at any time
   */
  static Traffic start(List<NodeClient> nodes, List<Demand> demands) {
    Traffic traffic = new Traffic(nodes, demands);
    // Answers of the first call on a connection come late; they are no part of the traffic.
    for (Demand demand : demands) {
      nodes.forEach(node -> node.check(demand.key, demand.plan, 0));
    }
    traffic.demands.forEach(traffic::schedule);
    return traffic;
  }

  /** Checks of one key for about so many seconds. */
  static Tally steady(List<NodeClient> nodes, Demand demand, int seconds) {
    try (Traffic traffic = start(nodes, List.of(demand))) {
      traffic.awaitSecondsWorth(seconds);
      return traffic.tally();
    }
  }

  private void schedule(Demand demand) {
    int count = CALLERS_PER_NODE * nodes.size();
    long paceNanos = TimeUnit.SECONDS.toNanos(1) * count / demand.callsPerSecond;
    for (int caller = 0; caller < count; caller++) {
      int node = caller % nodes.size();
      var unused =
          callers.scheduleWithFixedDelay(
              () -> call(demand, node),
              paceNanos * caller / count,
              paceNanos,
              TimeUnit.NANOSECONDS);
    }
  }

  /** Never throws, since that would end the caller's schedule. */
  private void call(Demand demand, int node) {
    if (left.getAndDecrement() <= 0) {
      return;
    }
    long sent = System.nanoTime();
    boolean admitted = false;
    boolean degraded = false;
    String error = "";
    try {
      List<NodeClient> now = List.copyOf(nodes);
      Answer answer = now.get(node % now.size()).check(demand.key, demand.plan, 1);
      admitted = answer.admitted();
      degraded = answer.degraded();
    } catch (AssertionError | RuntimeException e) {
      error = "node " + node + ": " + e.getMessage();
    }
    calls.add(new Call(demand.key, node, sent, System.nanoTime(), admitted, degraded, error));
  }

  /** What has come of it so far. */
  Tally tally() {
    return new Tally(calls.stream().sorted(Comparator.comparingLong(Call::answeredNanos)).toList());
  }

  /** Waits until {@code condition} holds of what has come of it. */
  void await(Predicate<Tally> condition) {
    Awaitility.await("traffic")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(this::tally, condition);
  }

  /** Waits for as many more answers as are asked for in so many seconds. */
  void awaitSecondsWorth(int seconds) {
    int before = calls.size();
    int more = seconds * demands.stream().mapToInt(Demand::callsPerSecond).sum();
    await(tally -> tally.calls().size() >= before + more);
  }

  /**
   * Waits until the store answers for every key on each of {@code nodes}: none of the {@code count}
   * latest answers is degraded, and all of them are to calls made from now on.
   */
  void awaitNothingDegraded(int count, List<Integer> nodes) {
    long now = System.nanoTime();
    await(
        tally -> {
          List<Tally> each = new ArrayList<>();
          for (int node : nodes) {
            demands.forEach(demand -> each.add(tally.on(node).of(demand.key).last(count)));
          }
          return each.stream()
              .allMatch(
                  latest ->
                      latest.calls().stream().filter(call -> call.sentNanos > now).count() == count
                          && latest.degraded() == 0);
        });
  }

  /** Lets nobody ask any more, and waits for the answers under way. */
  @Override
  public void close() {
    callers.shutdown();
    try {
      if (!callers.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("traffic does not end: " + tally());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
