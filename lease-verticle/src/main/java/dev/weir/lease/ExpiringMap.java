package dev.weir.lease;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A map whose entries are gone when their time has come. Owned by one thread.
 *
 * <p>There is no timer: every {@link #put} looks at the {@value #LOOKED_AT} entries that were not
 * looked at for longest, and drops or keeps them, so that what has expired never grows beyond what
 * one round over the map lets it.
 */
final class ExpiringMap<K, V> {
  private static final int LOOKED_AT = 2;

  private record Entry<V>(V value, double expiresMillis) {}

  private final Map<K, Entry<V>> entries = new LinkedHashMap<>();

  Optional<V> get(K key, long nowMillis) {
    Entry<V> entry = entries.get(key);
    if (entry == null) {
      return Optional.empty();
    }
    if (entry.expiresMillis <= nowMillis) {
      entries.remove(key);
      return Optional.empty();
    }
    return Optional.of(entry.value);
  }

  void put(K key, V value, double expiresMillis, long nowMillis) {
    entries.put(key, new Entry<>(value, expiresMillis));
    for (int i = 0; i < LOOKED_AT; i++) {
      lookAtEldest(nowMillis);
    }
  }

  /** Gives an entry another value, for the time that it has left; does nothing if it has none. */
  void replace(K key, V value) {
    entries.computeIfPresent(key, (same, entry) -> new Entry<>(value, entry.expiresMillis));
  }

  void remove(K key) {
    entries.remove(key);
  }

  int size() {
    return entries.size();
  }

  private void lookAtEldest(long nowMillis) {
    Iterator<Map.Entry<K, Entry<V>>> eldest = entries.entrySet().iterator();
    if (!eldest.hasNext()) {
      return;
    }
    Map.Entry<K, Entry<V>> entry = eldest.next();
    K key = entry.getKey();
    Entry<V> value = entry.getValue();
    eldest.remove();
    if (value.expiresMillis > nowMillis) {
      entries.put(key, value);
    }
  }
}
