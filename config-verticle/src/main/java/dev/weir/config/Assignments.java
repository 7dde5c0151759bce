package dev.weir.config;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Plan names by key, immutable. A change gives a new map that shares all but a sliver with the old
 * one: the keys are spread by hash over a tree of two levels, 64 by 64 small maps, and a change
 * copies one branch. So a snapshot per change stays cheap with hundreds of thousands of keys.
 */
final class Assignments extends AbstractMap<String, String> {

  private static final int FAN_OUT = 64;
  private static final Segment NO_KEYS = new Segment(Map.of());
  private static final Assignments NONE = of(Map.of());

  private final Segment[][] branches;
  private final int size;

  private Assignments(Segment[][] branches, int size) {
    this.branches = branches;
    this.size = size;
  }

  static Assignments none() {
    return NONE;
  }

  static Assignments of(Map<String, String> plans) {
    Segment[][] branches = new Segment[FAN_OUT][FAN_OUT];
    plans.forEach(
        (key, plan) -> {
          int slot = slot(key);
          Segment[] branch = branches[slot / FAN_OUT];
          if (branch[slot % FAN_OUT] == null) {
            branch[slot % FAN_OUT] = new Segment(new HashMap<>());
          }
          branch[slot % FAN_OUT].plans().put(key, plan);
        });
    for (Segment[] branch : branches) {
      Arrays.setAll(branch, i -> branch[i] == null ? NO_KEYS : branch[i]);
    }
    return new Assignments(branches, plans.size());
  }

  Assignments with(String key, String plan) {
    String before = get(key);
    if (plan.equals(before)) {
      return this;
    }
    Map<String, String> plans = new HashMap<>(segment(key).plans());
    plans.put(key, plan);
    return replacing(key, new Segment(plans), before == null ? size + 1 : size);
  }

  Assignments without(String key) {
    if (!containsKey(key)) {
      return this;
    }
    Map<String, String> plans = new HashMap<>(segment(key).plans());
    plans.remove(key);
    return replacing(key, new Segment(plans), size - 1);
  }

  /** Whether {@code other} is this very map; a change that changes nothing gives the same one. */
  @SuppressWarnings("ReferenceEquality") // comparing all entries is what this is to save
  boolean is(Assignments other) {
    return this == other;
  }

  private Assignments replacing(String key, Segment segment, int newSize) {
    int slot = slot(key);
    Segment[][] newBranches = branches.clone();
    newBranches[slot / FAN_OUT] = branches[slot / FAN_OUT].clone();
    newBranches[slot / FAN_OUT][slot % FAN_OUT] = segment;
    return new Assignments(newBranches, newSize);
  }

  @Override
  public String get(Object key) {
    return key instanceof String text ? segment(text).plans().get(text) : null;
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
  public Set<Entry<String, String>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Entry<String, String>> iterator() {
        return Arrays.stream(branches)
            .flatMap(Stream::of)
            .flatMap(segment -> segment.plans().entrySet().stream())
            .map(Map.Entry::copyOf)
            .iterator();
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  private Segment segment(String key) {
    int slot = slot(key);
    return branches[slot / FAN_OUT][slot % FAN_OUT];
  }

  /** Takes the high bits of a multiplied hash: the maps below use the low bits of the plain one. */
  private static int slot(String key) {
    return (key.hashCode() * 0x9E3779B9) >>> 20;
  }

  private record Segment(Map<String, String> plans) {}
}
