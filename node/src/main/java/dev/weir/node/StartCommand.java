package dev.weir.node;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code weir start}: runs a node in the foreground until it is told to stop. */
final class StartCommand implements Callable<Integer> {

  private static final String DEFAULT_FILE = "weir.yaml";

  private final Surroundings surroundings;
  private final Map<Setting<?>, OptionSpec> options = new LinkedHashMap<>();
  private final OptionSpec file =
      OptionSpec.builder("--config")
          .paramLabel("FILE")
          .type(String.class)
          .description("Settings file; " + DEFAULT_FILE + " here if there is one")
          .build();

  private StartCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
    for (Setting<?> setting : SettingTable.ALL) {
      String fallback = setting.fallback().isEmpty() ? "none" : setting.fallback();
      options.put(
          setting,
          OptionSpec.builder(setting.options().toArray(String[]::new))
              .paramLabel("VALUE")
              .type(String.class)
              .description(
                  setting.help() + " (" + setting.variable() + "; default " + fallback + ")")
              .build());
    }
  }

  static CommandSpec spec(Surroundings surroundings) {
    StartCommand command = new StartCommand(surroundings);
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
    spec.usageMessage()
        .customSynopsis("weir start [--config=FILE] [--SETTING=VALUE]...")
        .description(
            "Runs a node in the foreground until SIGTERM. Settings are taken from the file, then"
                + " from the environment, then from the command line; the last one holds.");
    spec.addOption(command.file);
    command.options.values().forEach(spec::addOption);
    return spec;
  }

  @Override
  public Integer call() throws InterruptedException {
    SettingsReader reader = new SettingsReader();
    try {
      configFile().ifPresent(found -> reader.add(SettingsFile.read(found)));
      reader.addEnvironment(surroundings.environment());
      reader.add(flags());
      Settings settings = reader.settings();
      Logger log = LoggerFactory.getLogger(StartCommand.class);
      reader.warnings().forEach(log::warn);
      NodeProcess.start(settings, surroundings.out()).join();
      return ExitCode.OK;
    } catch (SettingsRefusedException e) {
      e.errors().forEach(error -> surroundings.err().println("weir: " + error));
      return ExitCode.REFUSED;
    }
  }

  private Optional<Path> configFile() {
    String named = file.getValue();
    if (named != null) {
      return Optional.of(surroundings.directory().resolve(named));
    }
    return Optional.of(surroundings.directory().resolve(DEFAULT_FILE)).filter(Files::exists);
  }

  private Map<String, GivenSetting> flags() {
    Map<String, GivenSetting> flags = new HashMap<>();
    options.forEach(
        (setting, option) -> {
          String text = option.getValue();
          if (text != null) {
            flags.put(setting.path(), new GivenSetting(text, "from --" + setting.path()));
          }
        });
    return flags;
  }
}
