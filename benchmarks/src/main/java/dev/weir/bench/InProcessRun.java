package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The benchmarks of {@link InProcess}: a process of its own for each contender, all of them in each
 * round.
 */
final class InProcessRun implements Section {

  private static final int WARM_UPS = 3;
  private static final String ALLOCATION = "gc.alloc.rate.norm";

  @Override
  public String name() {
    return "in_process";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Map<String, Map<Contenders, Rounds>> nanos = new TreeMap<>();
    Map<String, Map<Contenders, Rounds>> bytes = new TreeMap<>();
    for (int round = 0; round < effort.rounds(); round++) {
      for (RunResult run : run(effort)) {
        String benchmark = run.getPrimaryResult().getLabel();
        Contenders contender = Contenders.valueOf(run.getParams().getParam("contender"));
        of(nanos, benchmark, contender).add(run.getPrimaryResult().getScore());
        Result<?> allocated = run.getSecondaryResults().get(ALLOCATION);
        of(bytes, benchmark, contender).add(allocated.getScore());
      }
    }
    JsonObject all = new JsonObject();
    nanos.forEach((benchmark, each) -> all.put(benchmark, table(each, bytes.get(benchmark))));
    results.put(name(), all);
    Map<Contenders, Rounds> plain = nanos.get("oneThread");
    results.put(
        "in_process_vs_floor",
        plain.get(Contenders.WEIR_LEASED).ratioTo(plain.get(Contenders.FLOOR)));
  }

  private static JsonObject table(Map<Contenders, Rounds> nanos, Map<Contenders, Rounds> bytes) {
    JsonObject table = new JsonObject();
    Rounds floor = nanos.get(Contenders.FLOOR);
    nanos.forEach(
        (contender, rounds) ->
            table.put(
                contender.name().toLowerCase(java.util.Locale.ROOT),
                new JsonObject()
                    .put("ns", rounds.median())
                    .put("vs_floor", rounds.ratioTo(floor))
                    .put("bytes", bytes.get(contender).median())));
    return table;
  }

  private static Rounds of(
      Map<String, Map<Contenders, Rounds>> all, String benchmark, Contenders contender) {
    return all.computeIfAbsent(benchmark, name -> new TreeMap<>())
        .computeIfAbsent(contender, name -> new Rounds());
  }

  private static Collection<RunResult> run(Effort effort) {
    TimeValue third = TimeValue.milliseconds(Math.max(1, effort.length().toMillis() / WARM_UPS));
    Options options =
        new OptionsBuilder()
            .include(InProcess.class.getName() + "\\..*")
            .param("keys", Integer.toString(effort.keys()))
            .warmupIterations(WARM_UPS)
            .warmupTime(third)
            .measurementIterations(WARM_UPS)
            .measurementTime(third)
            .shouldFailOnError(true)
            .addProfiler(GCProfiler.class)
            .build();
    try {
      return new Runner(
              options, OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL))
          .run();
    } catch (RunnerException e) {
      throw new IllegalStateException(e);
    }
  }
}
