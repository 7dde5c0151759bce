package dev.weir.node;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Many callers who call at the same moment. */
final class Crowd {

  private Crowd() {}

  /**
   * The results of {@code callers * callsEach} calls, made by as many threads as callers, who wait
   * for each other before their first. A call is given its number.
   */
  static <T> List<T> call(int callers, int callsEach, IntFunction<T> call) {
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    try {
      CyclicBarrier gate = new CyclicBarrier(callers);
      List<Future<List<T>>> results = new ArrayList<>();
      for (int caller = 0; caller < callers; caller++) {
        int first = caller * callsEach;
        results.add(
            threads.submit(
                () -> {
                  await(gate);
                  List<T> mine = new ArrayList<>();
                  for (int i = 0; i < callsEach; i++) {
                    mine.add(call.apply(first + i));
                  }
                  return mine;
                }));
      }
      List<T> all = new ArrayList<>();
      for (Future<List<T>> result : results) {
        all.addAll(result.get());
      }
      return all;
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void await(CyclicBarrier gate) throws InterruptedException {
    try {
      gate.await();
    } catch (BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }
}
