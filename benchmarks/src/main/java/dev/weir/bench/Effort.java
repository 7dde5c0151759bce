package dev.weir.bench;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

/**
 * How much is done to be certain of the figures.
 *
 * @param rounds in which both sides of a comparison take turns, 1 or more
 * @param length of one side's turn, a millisecond or more
 * @param keys that there are, 1 or more
 */
record Effort(int rounds, Duration length, int keys) {

  private static final Duration LONG = Duration.ofSeconds(1);
  private static final int FEWEST = 1_000;

  /**
   * @throws IllegalArgumentException with one line that says which is out of its range
   */
  Effort {
    if (rounds < 1) {
      throw new IllegalArgumentException("--rounds: must be 1 or more, was " + rounds);
    }
    if (length.toMillis() < 1) {
      throw new IllegalArgumentException("--millis: must be 1 or more, was " + length.toMillis());
    }
    if (keys < 1) {
      throw new IllegalArgumentException("--keys: must be 1 or more, was " + keys);
    }
  }

  /** Numbers of keys to tell by how something grows with them: 1,000, and ten times as many. */
  List<Integer> keyCounts() {
    return LongStream.iterate(Math.min(FEWEST, keys), count -> count <= keys, count -> count * 10)
        .mapToObj(count -> (int) count)
        .toList();
  }

  /** Whether turns are long enough to mean something, and to start a process for. */
  boolean hasLongTurns() {
    return length.compareTo(LONG) >= 0;
  }
}
