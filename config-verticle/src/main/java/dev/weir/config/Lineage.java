package dev.weir.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where a configuration comes from.
 *
 * <p>Versions are counted by each part of a cluster that has split on its own, so a number alone
 * does not tell one version 7 from another. Who wrote it does, since no node is in two parts.
 *
 * @param writers of the last versions, the one of the present version last; at most {@value
 *     #MOST_WRITERS}
 * @param seeds digests of the plans files that have been brought in, so that what was removed since
 *     is not brought in again; at most {@value #MOST_SEEDS}, the latest last
 */
record Lineage(List<String> writers, List<String> seeds) {

  static final int MOST_WRITERS = 64;
  static final int MOST_SEEDS = 16;

  /** That of a configuration of which nothing is known. */
  static final Lineage NONE = new Lineage(List.of(), List.of());

  Lineage {
    writers = last(MOST_WRITERS, writers);
    seeds = last(MOST_SEEDS, seeds);
  }

  Lineage writtenBy(String writer) {
    return new Lineage(and(writers, writer), seeds);
  }

  Lineage seededBy(String digest) {
    return seeds.contains(digest) ? this : new Lineage(writers, and(seeds, digest));
  }

  /**
   * Whether {@code older} is known to be no forebear: whoever wrote its version did not write that
   * version of this.
   *
   * @param versionsSince how many versions this is ahead of {@code older}; below 0, of which
   *     nothing is known, if it is behind
   */
  boolean departsFrom(Lineage older, long versionsSince) {
    long there = writers.size() - 1 - versionsSince;
    return versionsSince >= 0
        && there >= 0
        && !older.writers.isEmpty()
        && !writers.get(Math.toIntExact(there)).equals(older.writer());
  }

  /** Of the present version; empty if that is not known. */
  String writer() {
    return writers.isEmpty() ? "" : writers.get(writers.size() - 1);
  }

  Map<String, Object> format() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("writers", writers);
    members.put("seeds", seeds);
    return members;
  }

  /**
   * @throws ConfigRefusedException with code 400 if {@code value} is not what {@link #format} wrote
   */
  static Lineage parse(Object value) {
    if (value instanceof Map<?, ?> members
        && members.get("writers") instanceof List<?> writers
        && members.get("seeds") instanceof List<?> seeds) {
      return new Lineage(texts(writers), texts(seeds));
    }
    throw new ConfigRefusedException(400, List.of("lineage: must be there"));
  }

  private static List<String> texts(List<?> values) {
    return values.stream().map(String::valueOf).toList();
  }

  private static List<String> and(List<String> values, String last) {
    List<String> longer = new ArrayList<>(values);
    longer.add(last);
    return longer;
  }

  private static List<String> last(int most, List<String> values) {
    return List.copyOf(values.subList(Math.max(0, values.size() - most), values.size()));
  }
}
