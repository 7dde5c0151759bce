package dev.weir.config;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Which of the sub-counters that a limit is divided over, so that no single node of the store has
 * to count for a key by itself. A limit that is not divided is all of one.
 *
 * @param number 1 to {@code of}; 0 for all of them together
 * @param of how many there are, 1 to {@value #MOST}
 */
public record Shard(int number, int of) {

  /** The most sub-counters of a limit. */
  public static final int MOST = 64;

  /** Of a limit that is not divided. */
  public static final Shard WHOLE = new Shard(0, 1);

  /**
   * @throws IllegalArgumentException if a number is out of its range, or the only one of its kind
   *     is numbered
   */
  public Shard {
    if (of < 1 || of > MOST) {
      throw new IllegalArgumentException("shards: must be from 1 to " + MOST + ", was " + of);
    }
    if (number < 0 || number > of || (of == 1 && number != 0)) {
      throw new IllegalArgumentException("shard " + number + " of " + of);
    }
  }

  /** All of {@code of} together. */
  public static Shard all(int of) {
    return of == 1 ? WHOLE : new Shard(0, of);
  }

  /** The single counters that this stands for: itself, unless it is all of several. */
  public List<Shard> counters() {
    return number == 0 && of > 1
        ? IntStream.rangeClosed(1, of).mapToObj(each -> new Shard(each, of)).toList()
        : List.of(this);
  }

  /**
   * Whole units of {@code units} that are this one's: those of all add up to them, and the first
   * has the most.
   */
  public long partOf(long units) {
    return number == 0 ? units : units / of + (number <= units % of ? 1 : 0);
  }
}
