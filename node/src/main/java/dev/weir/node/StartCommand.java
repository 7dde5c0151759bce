package dev.weir.node;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code weir start}: runs a node in the foreground until it is told to stop. */
final class StartCommand implements Callable<Integer> {

  private final Surroundings surroundings;
  private final SettingOptions options;

  private StartCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.options = new SettingOptions(surroundings, SettingTable.ALL);
  }

  static CommandSpec spec(Surroundings surroundings) {
    StartCommand command = new StartCommand(surroundings);
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
    spec.usageMessage()
        .customSynopsis("weir start [--config=FILE] [--SETTING=VALUE]...")
        .description(
            "Runs a node in the foreground until SIGTERM. Settings are taken from the file, then"
                + " from the environment, then from the command line; the last one holds.");
    command.options.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      NodeProcess.start(options.settings(), surroundings.out()).join();
      return ExitCode.OK;
    } catch (SettingsRefusedException e) {
      e.errors().forEach(error -> surroundings.err().println("weir: " + error));
      return ExitCode.REFUSED;
    }
  }
}
