package dev.weir.decision;

import dev.weir.client.Decision;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** The callers who wait for a refill of one key, in order. Under the monitor of its entry. */
final class Waiters {

  /** Callers of one key that may wait at once; the next one is answered without the store. */
  static final int MOST = 10_000;

  private final ArrayDeque<Waiter> queue = new ArrayDeque<>(4);

  /** A caller who waits. */
  record Waiter(
      BoundPlan plan, String endpoint, long cost, long sinceMicros, Consumer<Decision> answer) {}

  /** An answer by a plan that is due to a waiter, to be delivered without the monitor. */
  record Due(Waiter waiter, BoundPlan plan, Decision decision) {
    void deliver(Decision concluded) {
      waiter.answer().accept(concluded);
    }
  }

  /** Joins the others; false if there are too many. */
  boolean join(Waiter waiter) {
    return queue.size() < MOST && queue.add(waiter);
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  Waiter first() {
    return queue.getFirst();
  }

  /** Permits of a limit of {@code plan} that all wait for together. */
  long demand(BoundPlan plan, int limit) {
    long sum = 0;
    for (Waiter waiter : queue) {
      if (waiter.plan() == plan && plan.applies(limit, waiter.endpoint())) {
        // At most MOST costs of at most 10^12: no overflow.
        sum += waiter.cost();
      }
    }
    return sum;
  }

  /** Answers in order until {@code answer} is null. */
  void serve(Function<Waiter, Due> answer, List<Due> due) {
    for (Iterator<Waiter> waiting = queue.iterator(); waiting.hasNext(); ) {
      Due next = answer.apply(waiting.next());
      if (next == null) {
        return;
      }
      waiting.remove();
      due.add(next);
    }
  }
}
