package dev.weir.bench;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The benchmarks of {@link InProcess}: a process of its own for each contender, all of them in each
 * round. A turn is measured after one as long that counts for nothing, and that after every key has
 * been decided on.
 */
final class Microbenchmarks {

  /** Figures of a contender: of one decision, and the bytes that it allocates. */
  static final String NANOS = "ns";

  static final String BYTES = "bytes";

  private static final int ITERATIONS = 2;

  /**
   * A heap that the system has given before, as it has in a process that runs for long: otherwise
   * what allocates pays for pages that are touched for the first time.
   */
  private static final String[] HEAP = {"-Xms3g", "-XX:+AlwaysPreTouch"};

  private static final String ALLOCATION = "gc.alloc.rate.norm";

  private final Effort effort;

  Microbenchmarks(Effort effort) {
    this.effort = effort;
  }

  /**
   * Runs them.
   *
   * @param names of the benchmarks, a regular expression
   * @param keys that there are
   * @param contenders who take part
   * @return by the name of a benchmark, what the contenders reached, by {@link #side}
   */
  Map<String, Table> run(String names, int keys, Contenders... contenders) {
    Map<String, Table> tables = new TreeMap<>();
    for (int round = 0; round < effort.rounds(); round++) {
      for (RunResult result : runOnce(names, keys, contenders)) {
        tables
            .computeIfAbsent(result.getPrimaryResult().getLabel(), name -> new Table())
            .add(
                side(Contenders.valueOf(result.getParams().getParam("contender"))),
                Map.of(
                    NANOS,
                    result.getPrimaryResult().getScore(),
                    BYTES,
                    // What is closed when all is measured is counted with the last iteration.
                    result.getSecondaryResults().get(ALLOCATION).getStatistics().getMin()));
      }
    }
    return tables;
  }

  /** The name of a contender in the tables. */
  static String side(Contenders contender) {
    return contender.name().toLowerCase(Locale.ROOT);
  }

  private Collection<RunResult> runOnce(String names, int keys, Contenders... contenders) {
    TimeValue part = TimeValue.milliseconds(Math.max(1, effort.length().toMillis() / ITERATIONS));
    String[] texts = new String[contenders.length];
    for (int i = 0; i < contenders.length; i++) {
      texts[i] = contenders[i].name();
    }
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(InProcess.class.getName() + "\\.(" + names + ")$")
            .param("keys", Integer.toString(keys))
            .param("contender", texts)
            .forks(effort.hasLongTurns() ? 1 : 0)
            .jvmArgsAppend(HEAP)
            .warmupIterations(ITERATIONS)
            .warmupTime(part)
            .measurementIterations(ITERATIONS)
            .measurementTime(part)
            .shouldFailOnError(true)
            .addProfiler(GCProfiler.class);
    try {
      return new Runner(
              options.build(),
              OutputFormatFactory.createFormatInstance(
                  System.err, effort.hasLongTurns() ? VerboseMode.NORMAL : VerboseMode.SILENT))
          .run();
    } catch (RunnerException e) {
      throw new IllegalStateException(e);
    }
  }
}
