package dev.weir.config;

import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
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
 * Reads YAML into maps, lists, text, numbers, booleans and nulls, and nothing else.
 *
 * <p>YAML 1.1 turns {@code yes} into a boolean, {@code 010} into 8, {@code 1:30} into 90 and {@code
 * 2026-01-01} into a date. None of that is what the author of a plan means, so plain scalars follow
 * JSON's rules for numbers and booleans; all else is text, and is refused where a number is wanted.
 * Keys of maps are text as written, whatever they look like. No object is ever constructed from a
 * tag, a map must not have a key twice, and maps and lists cannot be aliased, which is how small
 * documents grow without end.
 */
final class YamlText {

  private static final int MOST_CHARACTERS = 64 * 1024 * 1024;
  private static final int DEEPEST = 20;
  private static final Pattern WHOLE = Pattern.compile("[-+]?(0|[1-9][0-9]{0,39})");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?(0|[1-9][0-9]{0,39})(\\.[0-9]{1,40})?([eE][-+]?[0-9]{1,4})?");
  private static final Set<Tag> PLAIN_TAGS =
      Set.of(
          Tag.STR,
          Tag.INT,
          Tag.FLOAT,
          Tag.BOOL,
          Tag.NULL,
          Tag.TIMESTAMP,
          Tag.MERGE,
          Tag.MAP,
          Tag.SEQ);

  private final Errors errors = new Errors();

  private YamlText() {}

  /**
   * Reads a single document; an empty one is null.
   *
   * @throws ConfigRefusedException with code 400 if it is not one, with line and column
   */
  static Object read(String text) {
    YamlText reader = new YamlText();
    Object value = reader.value("", compose(text));
    reader.errors.throwIfAny();
    return value;
  }

  private static Node compose(String text) {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(MOST_CHARACTERS);
    options.setNestingDepthLimit(DEEPEST);
    options.setMaxAliasesForCollections(0);
    try {
      return new Yaml(options).compose(new StringReader(text));
    } catch (MarkedYAMLException e) {
      String where =
          e.getProblemMark() == null
              ? ""
              : "line "
                  + (e.getProblemMark().getLine() + 1)
                  + ", column "
                  + (e.getProblemMark().getColumn() + 1)
                  + ": ";
      throw refused(where + "is not YAML: " + oneLine(e.getProblem()));
    } catch (YAMLException | NumberFormatException e) {
      // The second is what the reader makes of some broken escapes in a quoted text.
      throw refused("is not YAML: " + oneLine(e.getMessage()));
    }
  }

  private Object value(String path, Node node) {
    if (node == null) {
      return null;
    }
    if (!PLAIN_TAGS.contains(node.getTag())) {
      errors.add(path, "has the tag " + Errors.shown(node.getTag().getValue()) + ", remove it");
      return null;
    }
    if (node instanceof MappingNode mapping) {
      return map(path, mapping);
    }
    if (node instanceof SequenceNode sequence) {
      List<Object> list = new ArrayList<>();
      for (Node entry : sequence.getValue()) {
        list.add(value(path + "[" + list.size() + "]", entry));
      }
      return list;
    }
    ScalarNode scalar = (ScalarNode) node;
    return scalar.isPlain() && !(scalar.getTag().equals(Tag.STR) && isExplicit(scalar))
        ? plain(scalar.getValue())
        : scalar.getValue();
  }

  private Map<String, Object> map(String path, MappingNode mapping) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      int line = tuple.getKeyNode().getStartMark().getLine() + 1;
      if (!(tuple.getKeyNode() instanceof ScalarNode keyNode)) {
        errors.add(path, "line " + line + ": the name of a member must be text");
        continue;
      }
      String key = keyNode.getValue();
      String memberPath = Errors.join(path, key);
      if (map.containsKey(key)) {
        errors.add(memberPath, "is given twice, again in line " + line);
        continue;
      }
      map.put(key, value(memberPath, tuple.getValueNode()));
    }
    return map;
  }

  /** Whether a scalar that looks like something else was tagged {@code !!str}. */
  private static boolean isExplicit(ScalarNode scalar) {
    return plain(scalar.getValue()) instanceof Number;
  }

  private static Object plain(String text) {
    if (WHOLE.matcher(text).matches()) {
      BigInteger whole = new BigInteger(text);
      return whole.bitLength() < Long.SIZE ? (Object) whole.longValue() : (Object) whole;
    }
    if (DECIMAL.matcher(text).matches()) {
      return new BigDecimal(text).doubleValue();
    }
    return switch (text) {
      case "", "~", "null", "Null", "NULL" -> null;
      case "true" -> true;
      case "false" -> false;
      default -> text;
    };
  }

  private static String oneLine(String problem) {
    return String.valueOf(problem).lines().findFirst().orElse("").strip();
  }

  private static ConfigRefusedException refused(String line) {
    return new ConfigRefusedException(400, List.of(line));
  }
}
