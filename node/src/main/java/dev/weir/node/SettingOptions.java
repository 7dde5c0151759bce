package dev.weir.node;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options of a command that are settings of a node. All settings are taken from the file, then
 * from the environment, then from the command line; the last one holds.
 */
final class SettingOptions {

  private static final String DEFAULT_FILE = "weir.yaml";

  private final Surroundings surroundings;
  private final Map<Setting<?>, OptionSpec> options = new LinkedHashMap<>();
  private final OptionSpec file =
      OptionSpec.builder("--config")
          .paramLabel("FILE")
          .type(String.class)
          .description("Settings file; " + DEFAULT_FILE + " here if there is one")
          .build();

  /**
   * @param settings that the command line may give
   */
  SettingOptions(Surroundings surroundings, List<Setting<?>> settings) {
    this.surroundings = surroundings;
    for (Setting<?> setting : settings) {
      String fallback = setting.fallback().isEmpty() ? "none" : setting.fallback();
      OptionSpec.Builder option =
          OptionSpec.builder(setting.options().toArray(String[]::new))
              .paramLabel("VALUE")
              .type(String.class)
              .description(
                  setting.help() + " (" + setting.variable() + "; default " + fallback + ")");
      if (!setting.bare().isEmpty()) {
        option.arity("0..1").fallbackValue(setting.bare());
      }
      options.put(setting, option.build());
    }
  }

  void addTo(CommandSpec spec) {
    spec.addOption(file);
    options.values().forEach(spec::addOption);
  }

  /**
   * The settings that hold, once the command line is parsed.
   *
   * @throws SettingsRefusedException with every error of every source
   */
  Settings settings() {
    SettingsReader reader = new SettingsReader();
    configFile().ifPresent(found -> reader.add(SettingsFile.read(found)));
    reader.addEnvironment(surroundings.environment());
    reader.add(flags());
    Settings settings = reader.settings();
    Logger log = LoggerFactory.getLogger(SettingOptions.class);
    reader.warnings().forEach(log::warn);
    return settings;
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
