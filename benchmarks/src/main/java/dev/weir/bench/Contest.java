package dev.weir.bench;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One contender, who knows all keys. */
@State(Scope.Benchmark)
public class Contest {

  /** Who decides. */
  @Param public Contenders contender;

  /** How many keys there are. */
  @Param("1000000")
  public int keys;

  Keys texts;
  Contender open;

  /** Has every key decided on once. */
  @Setup(Level.Trial)
  public void open() {
    texts = new Keys(keys);
    open = contender.open(keys);
    for (int key = 0; key < keys; key++) {
      open.decide(texts.kept(key));
    }
  }

  /** Lets go of all that the contender holds. */
  @TearDown(Level.Trial)
  public void close() {
    open.close();
  }
}
