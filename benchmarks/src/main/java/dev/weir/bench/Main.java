package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code weir bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures this machine, and prints one JSON object.")
public final class Main implements Callable<Integer> {

  private static final List<Section> SECTIONS = List.of(new InProcessRun(), new BytesPerKey());

  @Option(names = "--rounds", description = "Rounds of each comparison (default: 3)")
  private int rounds = 3;

  @Option(names = "--millis", description = "Length of each turn, in milliseconds (default: 5000)")
  private long millis = 5_000;

  @Option(names = "--keys", description = "How many keys there are (default: 1000000)")
  private int keys = 1_000_000;

  @Option(names = "--only", split = ",", description = "What to measure (default: all)")
  private List<String> only = List.of();

  /** Runs it. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }

  @Override
  public Integer call() {
    Effort effort = new Effort(rounds, Duration.ofMillis(millis), keys);
    JsonObject results = new JsonObject();
    for (Section section : SECTIONS) {
      if (only.isEmpty() || only.contains(section.name())) {
        section.measure(effort, results);
      }
    }
    System.out.println(results.encodePrettily());
    return 0;
  }
}
