package dev.weir.config;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryExpiredListener;
import com.hazelcast.map.listener.EntryRemovedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * What the cluster has set for keys one by one, in a map of Hazelcast, and what this node last read
 * of it.
 *
 * <p>Listeners note <i>which</i> keys changed, never to what; the reader thread asks for their
 * values. Which keys those are is guarded by this object, what was read is the reader's own.
 */
final class SharedKeys<V> {

  /** With more keys than this to read one by one, reading all is cheaper. */
  private static final int MOST_CHANGED_KEYS = 50_000;

  private final IMap<String, String> shared;
  private final Function<String, V> decoder;
  private final Runnable onChange;
  private final UUID listener;
  private boolean allChanged = true;
  private Set<String> changedKeys = new HashSet<>();
  private KeyMap<V> read = KeyMap.none();

  /**
   * @param decoder of values
   * @param onChange called, on any thread, when there is something to read
   */
  SharedKeys(IMap<String, String> shared, Function<String, V> decoder, Runnable onChange) {
    this.shared = shared;
    this.decoder = decoder;
    this.onChange = onChange;
    listener = shared.addEntryListener(new Listener(), false);
  }

  /** The map, for those who change it; they call {@link #changed} afterwards. */
  IMap<String, String> shared() {
    return shared;
  }

  void changed(String key) {
    synchronized (this) {
      changedKeys.add(key);
      if (changedKeys.size() > MOST_CHANGED_KEYS) {
        changedKeys.clear();
        allChanged = true;
      }
    }
    onChange.run();
  }

  /** Has all be read the next time. */
  synchronized void allChanged() {
    allChanged = true;
  }

  synchronized boolean isStale() {
    return allChanged || !changedKeys.isEmpty();
  }

  /** What was read last. */
  KeyMap<V> read() {
    return read;
  }

  /** Reads what has changed. If that fails, all is read the next time. Blocks. */
  void refresh() {
    boolean all;
    Set<String> keys;
    synchronized (this) {
      all = allChanged;
      keys = changedKeys;
      allChanged = false;
      changedKeys = new HashSet<>();
    }
    try {
      read = all ? readAll() : read(keys);
    } catch (RuntimeException e) {
      allChanged();
      throw e;
    }
  }

  /** Replaces what was read, by what is left of it. */
  void replace(UnaryOperator<KeyMap<V>> change) {
    read = change.apply(read);
  }

  private KeyMap<V> readAll() {
    Map<String, V> all = new HashMap<>();
    shared.entrySet().forEach(entry -> all.put(entry.getKey(), decoder.apply(entry.getValue())));
    KeyMap<V> next = KeyMap.of(all);
    return next.equals(read) ? read : next;
  }

  private KeyMap<V> read(Set<String> keys) {
    KeyMap<V> next = read;
    Map<String, String> there = keys.isEmpty() ? Map.of() : shared.getAll(keys);
    for (String key : keys) {
      String value = there.get(key);
      next = value == null ? next.without(key) : next.with(key, decoder.apply(value));
    }
    return next;
  }

  /** Ends the listener. Blocks. */
  void close() {
    shared.removeEntryListener(listener);
  }

  private final class Listener
      implements EntryAddedListener<String, String>,
          EntryUpdatedListener<String, String>,
          EntryRemovedListener<String, String>,
          EntryExpiredListener<String, String> {

    @Override
    public void entryAdded(EntryEvent<String, String> event) {
      changed(event.getKey());
    }

    @Override
    public void entryUpdated(EntryEvent<String, String> event) {
      changed(event.getKey());
    }

    @Override
    public void entryRemoved(EntryEvent<String, String> event) {
      changed(event.getKey());
    }

    @Override
    public void entryExpired(EntryEvent<String, String> event) {
      changed(event.getKey());
    }
  }
}
