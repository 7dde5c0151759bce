package dev.weir.config;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What is set for keys one by one, immutable. A change gives a new map that shares all but a sliver
 * with the old one: the keys are spread by hash over a tree of two levels, 64 by 64 small maps, and
 * a change copies one branch. So a snapshot per change stays cheap with hundreds of thousands of
 * keys.
 */
final class KeyMap<V> extends AbstractMap<String, V> {

  private static final int FAN_OUT = 64;

  private final Segment<V>[][] branches;
  private final int size;

  private KeyMap(Segment<V>[][] branches, int size) {
    this.branches = branches;
    this.size = size;
  }

  static <V> KeyMap<V> none() {
    return of(Map.of());
  }

  static <V> KeyMap<V> of(Map<String, V> values) {
    Segment<V> noKeys = new Segment<>(Map.of());
    // Arrays of a generic type can only be made so; nothing but segments of V goes in.
    @SuppressWarnings({"unchecked", "rawtypes"})
    Segment<V>[][] branches = new Segment[FAN_OUT][FAN_OUT];
    values.forEach(
        (key, value) -> {
          int slot = slot(key);
          Segment<V>[] branch = branches[slot / FAN_OUT];
          if (branch[slot % FAN_OUT] == null) {
            branch[slot % FAN_OUT] = new Segment<>(new HashMap<>());
          }
          branch[slot % FAN_OUT].values().put(key, value);
        });
    for (Segment<V>[] branch : branches) {
      Arrays.setAll(branch, i -> branch[i] == null ? noKeys : branch[i]);
    }
    return new KeyMap<>(branches, values.size());
  }

  /**
   * This after {@code changes}: values by key, empty for a key to remove. With very many of them it
   * is much less work than one after another.
   */
  KeyMap<V> changedBy(Map<String, Optional<V>> changes) {
    Map<Integer, Map<String, V>> touched = new HashMap<>();
    int newSize = size;
    for (Map.Entry<String, Optional<V>> change : changes.entrySet()) {
      String key = change.getKey();
      Optional<V> after = change.getValue();
      if (after.equals(Optional.ofNullable(get(key)))) {
        continue;
      }
      Map<String, V> values =
          touched.computeIfAbsent(slot(key), slot -> new HashMap<>(segment(key).values()));
      newSize -= values.size();
      values.remove(key);
      after.ifPresent(value -> values.put(key, value));
      newSize += values.size();
    }
    if (touched.isEmpty()) {
      return this;
    }
    Segment<V>[][] newBranches = branches.clone();
    touched.forEach(
        (slot, values) -> {
          int branch = slot / FAN_OUT;
          if (isSame(newBranches[branch], branches[branch])) {
            newBranches[branch] = branches[branch].clone();
          }
          newBranches[branch][slot % FAN_OUT] = new Segment<>(values);
        });
    return new KeyMap<>(newBranches, newSize);
  }

  /** The entries whose value {@code kept} holds for; walks all of them. */
  KeyMap<V> keeping(Predicate<V> kept) {
    Map<String, V> values = new HashMap<>();
    forEach(
        (key, value) -> {
          if (kept.test(value)) {
            values.put(key, value);
          }
        });
    return values.size() == size ? this : of(values);
  }

  /**
   * What has to be put into this map, and removed from it, to make it {@code next}: values by key,
   * empty for a key to remove. What the two share is passed over unseen.
   */
  Map<String, Optional<V>> differences(KeyMap<V> next) {
    Map<String, Optional<V>> differences = new HashMap<>();
    for (int i = 0; i < FAN_OUT; i++) {
      for (int j = 0; j < FAN_OUT; j++) {
        Map<String, V> before = branches[i][j].values();
        Map<String, V> after = next.branches[i][j].values();
        if (!isSame(before, after)) {
          before.keySet().stream()
              .filter(key -> !after.containsKey(key))
              .forEach(key -> differences.put(key, Optional.empty()));
          after.forEach(
              (key, value) -> {
                if (!value.equals(before.get(key))) {
                  differences.put(key, Optional.of(value));
                }
              });
        }
      }
    }
    return differences;
  }

  @SuppressWarnings("ReferenceEquality") // comparing all entries is what this is to save
  private static boolean isSame(Object one, Object other) {
    return one == other;
  }

  /** Whether {@code other} is this very map; a change that changes nothing gives the same one. */
  @SuppressWarnings("ReferenceEquality") // comparing all entries is what this is to save
  boolean is(Map<String, V> other) {
    return this == other;
  }

  @Override
  public V get(Object key) {
    return key instanceof String text ? segment(text).values().get(text) : null;
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Set<Entry<String, V>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Entry<String, V>> iterator() {
        return Arrays.stream(branches)
            .flatMap(Stream::of)
            .flatMap(segment -> segment.values().entrySet().stream())
            .map(Map.Entry::copyOf)
            .iterator();
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  private Segment<V> segment(String key) {
    int slot = slot(key);
    return branches[slot / FAN_OUT][slot % FAN_OUT];
  }

  /** Takes the high bits of a multiplied hash: the maps below use the low bits of the plain one. */
  private static int slot(String key) {
    return (key.hashCode() * 0x9E3779B9) >>> 20;
  }

  private record Segment<V>(Map<String, V> values) {}
}
