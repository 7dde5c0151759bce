package dev.weir.bench;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/** The keys that one thread asks about, again and again the same long sequence. */
@State(Scope.Thread)
public class Walk {

  private static final int LENGTH = 1 << 22;

  private int[] keys;
  private int at;

  /** Draws the sequence, another one for each thread. */
  @Setup(Level.Trial)
  public void draw(Contest contest, ThreadParams thread) {
    keys = Popularity.sequence(contest.keys, LENGTH, thread.getThreadIndex());
  }

  int next() {
    at = (at + 1) & (LENGTH - 1);
    return keys[at];
  }
}
