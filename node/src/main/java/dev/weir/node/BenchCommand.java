package dev.weir.node;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code weir bench}, as the help of {@code weir} has it. What it does is a program of its own,
 * which the launcher runs.
 */
final class BenchCommand implements Callable<Integer> {

  private final Surroundings surroundings;

  private BenchCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  static CommandSpec spec(Surroundings surroundings) {
    CommandSpec spec = CommandSpec.wrapWithoutInspection(new BenchCommand(surroundings));
    spec.usageMessage().description("Measures Weir on this machine. Needs its sources.");
    return spec;
  }

  @Override
  public Integer call() {
    surroundings.err().println("weir: bench: is run by the launcher of a checkout, ./weir bench");
    return ExitCode.REFUSED;
  }
}
