package dev.weir.config;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The snapshot in force, and who is told when another one comes. One thread replaces at a time. */
final class LiveSnapshot {

  private static final Logger LOG = LoggerFactory.getLogger(LiveSnapshot.class);

  private final List<Consumer<ConfigSnapshot>> listeners = new CopyOnWriteArrayList<>();
  private volatile ConfigSnapshot current;

  LiveSnapshot(ConfigSnapshot first) {
    this.current = first;
  }

  ConfigSnapshot current() {
    return current;
  }

  void onChange(Consumer<ConfigSnapshot> listener) {
    listeners.add(listener);
  }

  void replace(ConfigSnapshot next) {
    current = next;
    for (Consumer<ConfigSnapshot> listener : listeners) {
      try {
        listener.accept(next);
      } catch (RuntimeException e) {
        // The change is in force already; one deaf listener must not keep it from the others.
        LOG.error("a listener failed on configuration version {}", next.version(), e);
      }
    }
  }
}
