package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command {@code weir bench}. */
@Command(
    name = "weir bench",
    mixinStandardHelpOptions = true,
    description =
        "Measures Weir on this machine, beside what it is compared with, and prints one JSON"
            + " object of medians. It says on standard error what it is at.")
public final class Main implements Callable<Integer> {

  private static final int OK = 0;
  private static final int FAILED = 1;
  private static final int REFUSED = 2;

  private static final List<Section> SECTIONS =
      List.of(
          new InProcessRun(),
          new Scale(),
          new BytesPerKey(),
          new HttpChecks(),
          new ManyKeys(),
          new BatchChecks(),
          new EventBusChecks(),
          new RefillRate(),
          new StoreCallCount(),
          new StrictChecks(),
          new HotKey(),
          new StoreKilled(),
          new Start());

  private final PrintWriter out;
  private final PrintWriter err;

  @Option(
      names = "--rounds",
      paramLabel = "NUMBER",
      description = "Rounds, in which all sides of a comparison take turns (default 3)")
  private int rounds = 3;

  @Option(
      names = "--millis",
      paramLabel = "NUMBER",
      description = "Length of a turn, in milliseconds (default 2000)")
  private long millis = 2_000;

  @Option(
      names = "--keys",
      paramLabel = "NUMBER",
      description = "How many keys there are (default 1000000)")
  private int keys = 1_000_000;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "What to measure, of ${COMPLETION-CANDIDATES} (default: all)",
      completionCandidates = SectionNames.class)
  private List<String> only = List.of();

  private Main(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  /** Runs it and ends the process with its exit code. */
  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    // What is measured may print as well, and the standard output is the result's.
    System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.err), true));
    try {
      System.exit(run(out, err, args));
    } catch (Error fault) {
      // Threads of what was measured would keep the process.
      fault.printStackTrace(err);
      System.exit(FAILED);
    }
  }

  /** Runs it and gives its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    return new CommandLine(new Main(out, err))
        .setOut(out)
        .setErr(err)
        .setUsageHelpAutoWidth(true)
        .setParameterExceptionHandler((e, given) -> refuse(err, e))
        .execute(args);
  }

  private static int refuse(PrintWriter err, ParameterException e) {
    err.println("weir: " + e.getMessage().lines().findFirst().orElse(""));
    return REFUSED;
  }

  @Override
  public Integer call() {
    Effort effort;
    try {
      effort = new Effort(rounds, Duration.ofMillis(millis), keys);
      requireKnown();
    } catch (IllegalArgumentException e) {
      err.println("weir: " + e.getMessage());
      return REFUSED;
    }
    JsonObject results = new JsonObject();
    boolean complete = true;
    for (Section section : SECTIONS) {
      if (only.isEmpty() || only.contains(section.name())) {
        complete &= measure(section, effort, results);
      }
    }
    out.println(results.encodePrettily());
    return complete ? OK : FAILED;
  }

  private void requireKnown() {
    List<String> names = new SectionNames().names();
    only.stream()
        .filter(name -> !names.contains(name))
        .findFirst()
        .ifPresent(
            name -> {
              throw new IllegalArgumentException(
                  "--only: must be of " + String.join(", ", names) + ", was '" + name + "'");
            });
  }

  /** What has been measured before is worth having, so a failure does not end the others. */
  private boolean measure(Section section, Effort effort, JsonObject results) {
    err.println("weir: measuring " + section.name());
    try {
      section.measure(effort, results);
      return true;
    } catch (LeftOutException e) {
      err.println("weir: " + section.name() + " is left out: " + e.getMessage());
      return true;
    } catch (RuntimeException e) {
      err.println("weir: " + section.name() + " failed");
      e.printStackTrace(err);
      return false;
    }
  }

  private static final class SectionNames implements Iterable<String> {

    List<String> names() {
      return SECTIONS.stream().map(Section::name).toList();
    }

    @Override
    public Iterator<String> iterator() {
      return names().iterator();
    }
  }
}
