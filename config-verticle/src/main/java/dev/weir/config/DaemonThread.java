package dev.weir.config;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** A thread of its own for what blocks, that keeps no process alive. */
final class DaemonThread {

  private DaemonThread() {}

  static ScheduledExecutorService scheduled(String name) {
    return Executors.newSingleThreadScheduledExecutor(
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }
}
