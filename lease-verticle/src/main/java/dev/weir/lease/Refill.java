package dev.weir.lease;

import dev.weir.config.Shard;
import java.util.List;

/**
 * One step on one key: every take of it, or none.
 *
 * @param key whose counters these are
 * @param shard which sub-counters they are, of all takes: only these can be taken in one step
 * @param takes one per limit concerned, in the plan's order, with distinct limit names
 * @param purpose of the step
 */
public record Refill(String key, Shard shard, List<Take> takes, Purpose purpose) {
  private static final Purpose LEASE = new Purpose.Lease();

  /**
   * @throws IllegalArgumentException if a take is of other sub-counters, or of all together
   */
  public Refill {
    takes = List.copyOf(takes);
    if (shard.of() > 1 && shard.number() == 0) {
      throw new IllegalArgumentException("no single counter: " + shard);
    }
    for (Take take : takes) {
      if (!take.limit().shard().equals(shard)) {
        throw new IllegalArgumentException(take.limit().shard() + " beside " + shard);
      }
    }
  }

  /** Of the counters that the takes are of; without takes, of limits that are not divided. */
  public Refill(String key, List<Take> takes, Purpose purpose) {
    this(key, takes.isEmpty() ? Shard.WHOLE : takes.get(0).limit().shard(), takes, purpose);
  }

  /** For permits that a node spends, or gives back. */
  public Refill(String key, List<Take> takes) {
    this(key, takes, LEASE);
  }
}
