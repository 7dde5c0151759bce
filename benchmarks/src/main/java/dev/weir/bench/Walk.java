package dev.weir.bench;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/** The keys that one thread asks about, again and again the same long sequence. */
@State(Scope.Thread)
public class Walk {

  private static final int SHORTEST = 1 << 16;
  private static final int LONGEST = 1 << 22;
  private static final int TIMES_KEYS = 8;

  private int[] keys;
  private int at;

  /** Draws the sequence, another one for each thread. */
  @Setup(Level.Trial)
  public void draw(Contest contest, ThreadParams thread) {
    keys = Popularity.sequence(contest.keys, length(contest.keys), thread.getThreadIndex());
  }

  /** A power of two. */
  private static int length(int keys) {
    long wanted = Long.highestOneBit((long) TIMES_KEYS * keys);
    return (int) Math.max(SHORTEST, Math.min(LONGEST, wanted));
  }

  int next() {
    at = (at + 1) & (keys.length - 1);
    return keys[at];
  }
}
