package dev.weir.config;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration in force, and who is told when another one comes. One thread replaces at a
 * time.
 */
final class LiveSnapshot {

  private static final Logger LOG = LoggerFactory.getLogger(LiveSnapshot.class);

  private final List<Consumer<ConfigSnapshot>> listeners = new CopyOnWriteArrayList<>();
  private volatile ConfigState state;
  private volatile ConfigSnapshot current;

  LiveSnapshot(ConfigState first) {
    state = first;
    current = first.snapshot();
  }

  ConfigSnapshot current() {
    return current;
  }

  /** What {@link #current} was made of, or a moment ago. */
  ConfigState state() {
    return state;
  }

  void onChange(Consumer<ConfigSnapshot> listener) {
    listeners.add(listener);
  }

  void replace(ConfigState next) {
    String changes = next.document().changesSince(state.document());
    ConfigSnapshot snapshot = next.snapshot();
    state = next;
    current = snapshot;
    if (!changes.isEmpty()) {
      LOG.info("configuration version {}: {}", next.version(), changes);
    }
    for (Consumer<ConfigSnapshot> listener : listeners) {
      try {
        listener.accept(snapshot);
      } catch (RuntimeException e) {
        // The change is in force already; one deaf listener must not keep it from the others.
        LOG.error("a listener failed on configuration version {}", next.version(), e);
      }
    }
  }
}
