package dev.weir.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** A decision on one request in this process. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
public class InProcess {

  /** Of any key, by a text that the caller keeps. */
  @Benchmark
  @Threads(1)
  public Object oneThread(Contest contest, Walk walk) {
    return contest.open.decide(contest.texts.kept(walk.next()));
  }

  /** The same by two threads at once. */
  @Benchmark
  @Threads(2)
  public Object twoThreads(Contest contest, Walk walk) {
    return contest.open.decide(contest.texts.kept(walk.next()));
  }

  /** Of any key, by a text that came with the request. */
  @Benchmark
  @Threads(1)
  public Object receivedText(Contest contest, Walk walk) {
    return contest.open.decide(contest.texts.received(walk.next()));
  }

  /** Of one and the same key, by two threads at once. */
  @Benchmark
  @Threads(2)
  public Object hotKey(Contest contest) {
    return contest.open.decide(contest.texts.kept(0));
  }
}
