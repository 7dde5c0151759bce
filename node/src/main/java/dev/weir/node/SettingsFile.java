package dev.weir.node;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A settings file.
 *
 * <p>It is read as YAML's nodes and not as values, so that every setting reaches its own parser as
 * the text that stands in the file, whatever type YAML would have made of it ({@code on}, {@code
 * 010}, {@code 1_000}), and every error knows its line.
 */
final class SettingsFile {

  private final Path file;
  private final Map<String, GivenSetting> given = new LinkedHashMap<>();
  private final List<String> errors = new ArrayList<>();

  private SettingsFile(Path file) {
    this.file = file;
  }

  /**
   * The settings in {@code file} by their paths, unknown ones among them.
   *
   * @throws SettingsRefusedException if it cannot be read or is not laid out as settings are
   */
  static Map<String, GivenSetting> read(Path file) {
    SettingsFile reading = new SettingsFile(file);
    reading.read();
    if (!reading.errors.isEmpty()) {
      throw new SettingsRefusedException(reading.errors);
    }
    return reading.given;
  }

  private void read() {
    try {
      Node root = new Yaml(new LoaderOptions()).compose(new StringReader(Files.readString(file)));
      if (root instanceof MappingNode mapping) {
        readSection("", mapping);
      } else if (root != null && !isNull(root)) {
        errors.add(file + ": must hold settings by name");
      }
    } catch (NoSuchFileException e) {
      errors.add(file + ": no such file");
    } catch (CharacterCodingException e) {
      errors.add(file + ": is not UTF-8");
    } catch (IOException e) {
      errors.add(file + ": cannot be read");
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark().getLine() + 1;
      errors.add(file + ": line " + line + ": is not YAML: " + e.getProblem());
    } catch (YAMLException e) {
      errors.add(file + ": is not YAML");
    }
  }

  private void readSection(String prefix, MappingNode section) {
    for (NodeTuple entry : section.getValue()) {
      String origin = origin(entry.getKeyNode());
      if (!(entry.getKeyNode() instanceof ScalarNode name)) {
        errors.add("a setting's name must be a text (" + origin + ")");
        continue;
      }
      String path = prefix + Quoted.printable(name.getValue());
      Node value = entry.getValueNode();
      if (SettingTable.isSection(path)) {
        if (value instanceof MappingNode nested) {
          readSection(path + ".", nested);
        } else if (!isNull(value)) {
          errors.add(path + ": must be a section, with names below it (" + origin + ")");
        }
      } else if (!SettingTable.isSetting(path)) {
        // Whoever adds the file's settings to others tells of it: what it holds does not matter.
        given.put(path, new GivenSetting("", origin));
      } else if (!isNull(value)) {
        readValue(path, value, origin);
      }
    }
  }

  private void readValue(String path, Node value, String origin) {
    Optional<String> text = text(value);
    if (text.isEmpty()) {
      errors.add(path + ": must be one value (" + origin + ")");
    } else if (given.put(path, new GivenSetting(text.get(), origin)) != null) {
      errors.add(path + ": is there twice (" + origin + ")");
    }
  }

  /** A list counts as its elements joined by commas, the form that it has everywhere else. */
  private static Optional<String> text(Node value) {
    if (value instanceof ScalarNode scalar) {
      return Optional.of(scalar.getValue());
    }
    if (value instanceof SequenceNode sequence) {
      List<String> elements = new ArrayList<>();
      for (Node element : sequence.getValue()) {
        if (!(element instanceof ScalarNode scalar)) {
          return Optional.empty();
        }
        elements.add(scalar.getValue());
      }
      return Optional.of(String.join(",", elements));
    }
    return Optional.empty();
  }

  private static boolean isNull(Node node) {
    return node.getTag().equals(Tag.NULL);
  }

  private String origin(Node node) {
    return "from " + file + ", line " + (node.getStartMark().getLine() + 1);
  }
}
