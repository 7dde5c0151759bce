package dev.weir.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.SchemaRepository;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The API's document, every reference in it resolved. Safe to use from any thread. */
final class ApiSchemas {

  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "options", "head", "patch", "trace");

  private final SchemaRepository schemas;
  private final JsonObject document;
  private final Map<String, Pattern> patterns = new TreeMap<>();

  private ApiSchemas(JsonObject unresolved) {
    schemas =
        SchemaRepository.create(
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://")
                .setOutputFormat(OutputFormat.Basic));
    schemas.dereference(JsonSchema.of(unresolved));
    document = schemas.resolve(unresolved);
    for (String path : membersOf(document.getJsonObject("paths"))) {
      patterns.put(path, Pattern.compile(patternOf(path)));
    }
  }

  /** What follows /v1/authorize is the client's path, slashes included. */
  private static String patternOf(String path) {
    return Pattern.quote(path)
        .replace("{path}", "\\E.*\\Q")
        .replaceAll("\\{[a-z]+}", "\\\\E[^/]+\\\\Q");
  }

  static ApiSchemas load() {
    return new ApiSchemas(new JsonObject(yaml()));
  }

  static Map<String, Object> yaml() {
    try (InputStream in = ApiSchemas.class.getResourceAsStream("openapi.yaml")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
      return new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The template that a path as sent follows, on one of the two planes. */
  Optional<String> pathOf(boolean control, String sent) {
    return patterns.entrySet().stream()
        .filter(path -> path.getValue().matcher(sent).matches())
        .map(Map.Entry::getKey)
        .filter(path -> isControl(path) == control)
        // One that is spelled out goes before one with parameters.
        .min((a, b) -> Boolean.compare(a.contains("{"), b.contains("{")));
  }

  JsonObject path(String template) {
    return document.getJsonObject("paths").getJsonObject(template);
  }

  /** The methods by path. */
  Map<String, Set<String>> operations(boolean control) {
    Map<String, Set<String>> operations = new TreeMap<>();
    for (String path : patterns.keySet()) {
      if (isControl(path) == control) {
        operations.put(path, methods(path));
      }
    }
    return operations;
  }

  /** What has servers of its own is the data plane's. */
  private boolean isControl(String path) {
    return !path(path).containsKey("servers");
  }

  /** In capitals. */
  Set<String> methods(String template) {
    Set<String> methods = new TreeSet<>();
    for (String member : path(template).fieldNames()) {
      if (METHODS.contains(member)) {
        methods.add(member.toUpperCase(Locale.ROOT));
      }
    }
    return methods;
  }

  Optional<JsonObject> response(JsonObject operation, int status) {
    JsonObject responses = operation.getJsonObject("responses");
    return Stream.of(String.valueOf(status), status / 100 + "XX")
        .filter(responses::containsKey)
        .findFirst()
        .map(responses::getJsonObject);
  }

  /** One of the responses that stand apart from operations. */
  JsonObject response(String name) {
    return document.getJsonObject("components").getJsonObject("responses").getJsonObject(name);
  }

  /** What stands beside a schema to show what it means. */
  record Example(JsonObject schema, Object value) {}

  List<Example> examples() {
    List<Example> examples = new ArrayList<>();
    Stream.of(document.getJsonObject("paths"), document.getJsonObject("components"))
        .forEach(part -> collectExamples(part, examples));
    return examples;
  }

  private static void collectExamples(Object part, List<Example> examples) {
    if (part instanceof JsonArray array) {
      array.forEach(each -> collectExamples(each, examples));
    } else if (part instanceof JsonObject object) {
      if (object.getValue("schema") instanceof JsonObject schema) {
        if (object.containsKey("example")) {
          examples.add(new Example(schema, plain(object.getValue("example"))));
        }
        JsonObject named = object.getJsonObject("examples", new JsonObject());
        for (String name : membersOf(named)) {
          examples.add(new Example(schema, plain(named.getJsonObject(name).getValue("value"))));
        }
      } else {
        membersOf(object).forEach(name -> collectExamples(object.getValue(name), examples));
      }
    }
  }

  private static Object plain(Object value) {
    if (value instanceof JsonArray array) {
      return new JsonArray(array.stream().map(ApiSchemas::plain).toList());
    }
    if (value instanceof JsonObject object) {
      JsonObject plain = new JsonObject();
      membersOf(object).forEach(name -> plain.put(name, plain(object.getValue(name))));
      return plain;
    }
    return value;
  }

  /** What is wrong with {@code value}; nothing if it follows {@code schema}. */
  List<String> faults(JsonObject schema, Object value) {
    OutputUnit result = schemas.validator(JsonSchema.of(schema)).validate(value);
    return result.getValid()
        ? List.of()
        : result.getErrors().stream()
            .map(error -> error.getInstanceLocation() + " " + error.getError())
            .toList();
  }

  /** A parameter or a header as the type that its schema has. */
  static Object typed(JsonObject schema, String text) {
    String type = schema.getString("type");
    if (type.equals("integer") || type.equals("number")) {
      try {
        BigDecimal number = new BigDecimal(text);
        return number.stripTrailingZeros().scale() <= 0
            ? (Object) number.longValueExact()
            : (Object) number.doubleValue();
      } catch (ArithmeticException | NumberFormatException e) {
        // Left as it is, which is of another type.
      }
    }
    return text;
  }

  /** Without the notes that the resolver leaves. */
  static List<String> membersOf(JsonObject object) {
    return object.fieldNames().stream().filter(name -> !name.startsWith("__")).toList();
  }
}
