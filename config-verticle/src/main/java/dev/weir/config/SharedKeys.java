package dev.weir.config;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryExpiredListener;
import com.hazelcast.map.listener.EntryRemovedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * What the cluster has set for keys one by one, in a map of Hazelcast, and what this node last read
 * of it.
 *
 * <p>Writing is for who holds the lock of the {@link SharedDocument}. Listeners note <i>which</i>
 * keys changed, never to what; the reader thread asks for their values. Which keys those are is
 * guarded by this object, what was read is the reader's own.
 */
final class SharedKeys<V> {

  /** With more keys than this to read one by one, reading all is cheaper. */
  private static final int MOST_CHANGED_KEYS = 50_000;

  /** So few are asked for one by one, whatever else there is. */
  private static final int FEW_KEYS = 100;

  /** Entries of one call that puts many. */
  private static final int MOST_AT_ONCE = 10_000;

  /** Calls that put or remove an entry each, before their answers are waited for. */
  private static final int MOST_UNDER_WAY = 256;

  /** How values are written in the map. */
  interface Codec<V> {

    String encode(V value);

    V decode(String text);

    /** How long the value stays in the map, milliseconds; 0 if it does not go by itself. */
    long lifeMillis(V value);
  }

  private final IMap<String, String> shared;
  private final Codec<V> codec;
  private final Runnable onChange;
  private final UUID listener;
  private boolean allChanged = true;

  /** Whether more have changed than are noted one by one. */
  private boolean manyChanged;

  private Set<String> changedKeys = new HashSet<>();
  private KeyMap<V> read = KeyMap.none();

  /**
   * @param codec of values
   * @param onChange called, on any thread, when there is something to read
   */
  SharedKeys(IMap<String, String> shared, Codec<V> codec, Runnable onChange) {
    this.shared = shared;
    this.codec = codec;
    this.onChange = onChange;
    listener = shared.addEntryListener(new Listener(), false);
  }

  /** What is there of {@code key}, asked of the cluster. Blocks. */
  Optional<V> get(String key) {
    return Optional.ofNullable(shared.get(key)).map(codec::decode);
  }

  /** What is there of {@code keys}, and perhaps of others, asked of the cluster. Blocks. */
  Map<String, V> getAll(Set<String> keys) {
    if (keys.size() > FEW_KEYS && keys.size() > shared.size()) {
      return all();
    }
    Map<String, V> values = new HashMap<>();
    shared.getAll(keys).forEach((key, text) -> values.put(key, codec.decode(text)));
    return values;
  }

  /** Whether the value {@code value} is there for any key, asked of the cluster. Blocks. */
  boolean contains(V value) {
    return shared.containsValue(codec.encode(value));
  }

  /** How many keys there are, asked of the cluster. Blocks. */
  int size() {
    return shared.size();
  }

  /** Puts what is given for a key, and removes it where nothing is. Blocks. */
  void write(Map<String, Optional<V>> changes) {
    if (changes.isEmpty()) {
      return;
    }
    Map<String, String> lasting = new HashMap<>();
    List<CompletionStage<?>> underWay = new ArrayList<>();
    for (Map.Entry<String, Optional<V>> change : changes.entrySet()) {
      String key = change.getKey();
      Optional<V> value = change.getValue();
      long lifeMillis = value.map(codec::lifeMillis).orElse(0L);
      if (value.isEmpty()) {
        underWay.add(shared.removeAsync(key));
      } else if (lifeMillis > 0) {
        underWay.add(
            shared.setAsync(key, codec.encode(value.get()), lifeMillis, TimeUnit.MILLISECONDS));
      } else {
        lasting.put(key, codec.encode(value.get()));
      }
      if (underWay.size() == MOST_UNDER_WAY) {
        await(underWay);
      }
      if (lasting.size() == MOST_AT_ONCE) {
        shared.putAll(lasting);
        lasting.clear();
      }
    }
    await(underWay);
    if (!lasting.isEmpty()) {
      shared.putAll(lasting);
    }
    changed(changes.keySet());
  }

  private static void await(List<CompletionStage<?>> underWay) {
    underWay.forEach(stage -> stage.toCompletableFuture().join());
    underWay.clear();
  }

  private void changed(Set<String> keys) {
    synchronized (this) {
      changedKeys.addAll(keys);
      boundChangedKeys();
    }
    onChange.run();
  }

  private void changed(String key) {
    synchronized (this) {
      changedKeys.add(key);
      boundChangedKeys();
    }
    onChange.run();
  }

  private void boundChangedKeys() {
    if (changedKeys.size() > MOST_CHANGED_KEYS) {
      changedKeys.clear();
      manyChanged = true;
    }
  }

  /** Takes {@code all} as what has been read; what changes from there on is noted already. */
  void startFrom(KeyMap<V> all) {
    synchronized (this) {
      allChanged = false;
      manyChanged = false;
    }
    read = all;
  }

  /** Has all be read the next time. */
  synchronized void allChanged() {
    allChanged = true;
  }

  synchronized boolean isStale() {
    return allChanged || manyChanged || !changedKeys.isEmpty();
  }

  /** What was read last. */
  KeyMap<V> read() {
    return read;
  }

  /**
   * Reads what has changed. If that fails, all is read the next time. Blocks.
   *
   * @return whether all was read because somebody wanted it, and not because much was changed: keys
   *     that are gone then may have been lost
   */
  boolean refresh() {
    boolean wanted;
    boolean all;
    Set<String> keys;
    synchronized (this) {
      wanted = allChanged;
      all = allChanged || manyChanged;
      keys = changedKeys;
      allChanged = false;
      manyChanged = false;
      changedKeys = new HashSet<>();
    }
    try {
      read = all ? readAll() : read(keys);
      return wanted;
    } catch (RuntimeException e) {
      allChanged();
      throw e;
    }
  }

  /** Replaces what was read, by what is left of it. */
  void replace(UnaryOperator<KeyMap<V>> change) {
    read = change.apply(read);
  }

  /** All that is there, asked of the cluster. Blocks. */
  KeyMap<V> all() {
    Map<String, V> all = new HashMap<>();
    shared.entrySet().forEach(entry -> all.put(entry.getKey(), codec.decode(entry.getValue())));
    return KeyMap.of(all);
  }

  private KeyMap<V> readAll() {
    KeyMap<V> next = all();
    return next.equals(read) ? read : next;
  }

  private KeyMap<V> read(Set<String> keys) {
    if (keys.isEmpty()) {
      return read;
    }
    Map<String, V> there = getAll(keys);
    Map<String, Optional<V>> changes = new HashMap<>();
    keys.forEach(key -> changes.put(key, Optional.ofNullable(there.get(key))));
    return read.changedBy(changes);
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
