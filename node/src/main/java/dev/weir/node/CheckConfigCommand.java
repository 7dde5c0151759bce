package dev.weir.node;

import dev.weir.config.ConfigRefusedException;
import dev.weir.config.Limit;
import dev.weir.config.Plan;
import dev.weir.config.PlansFile;
import dev.weir.lease.LeaseCeiling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code weir check-config}: tells what a node would say of a plans file. */
final class CheckConfigCommand implements Callable<Integer> {

  private final Surroundings surroundings;
  private final PositionalParamSpec file =
      PositionalParamSpec.builder()
          .paramLabel("FILE")
          .type(String.class)
          .index("0")
          .required(true)
          .description("Plans file")
          .build();

  private CheckConfigCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  static CommandSpec spec(Surroundings surroundings) {
    CheckConfigCommand command = new CheckConfigCommand(surroundings);
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
    spec.usageMessage()
        .description("Checks a plans file: tells every error, and ends with 2 if there is one.");
    spec.addPositional(command.file);
    return spec;
  }

  @Override
  public Integer call() {
    String name = file.getValue();
    try {
      PlansFile plans = PlansFile.read(surroundings.directory().resolve(name));
      for (String warning : warnings(plans)) {
        surroundings.err().println("weir: warning: " + name + ": " + warning);
      }
      surroundings.out().println("ok");
      return ExitCode.OK;
    } catch (ConfigRefusedException e) {
      e.errors().forEach(error -> surroundings.err().println("weir: " + name + ": " + error));
      return ExitCode.REFUSED;
    }
  }

  /** Limits that ask the store for every decision, though their author has not said so. */
  private static List<String> warnings(PlansFile plans) {
    Settings defaults = new SettingsReader().settings();
    Duration span = defaults.accuracyWindow();
    LeaseCeiling ceilings = LeaseCeiling.of(defaults.tolerance(), span);
    List<String> warnings = new ArrayList<>();
    for (Plan plan : new TreeMap<>(plans.plans()).values()) {
      for (int i = 0; i < plan.limits().size(); i++) {
        Limit limit = plan.limits().get(i);
        if (limit.leased() && ceilings.of(limit, 1) < 1) {
          warnings.add(
              "plans."
                  + Quoted.printable(plan.name())
                  + ".limits["
                  + i
                  + "]: admits at most "
                  + limit.algorithm().admittedOver(ceilings.windowMicros())
                  + " in "
                  + span.toSeconds()
                  + "s, too little to lease ahead: every decision asks the store (strict: true"
                  + " says that this is meant)");
        }
      }
    }
    return warnings;
  }
}
