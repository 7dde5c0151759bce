package dev.weir.node;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What the files of {@code deploy/} say, read as whoever they are for reads them. */
final class DeployFiles {

  static final Path DIRECTORY = Repository.root().resolve("deploy");

  /** What stands for a secret that is told at the start. */
  static final String SECRET = "a-secret";

  private static final Pattern COMPOSE_VARIABLE = Pattern.compile("\\$\\{\\w+(:\\?[^}]*)?}");

  private DeployFiles() {}

  static String text(String file) {
    try {
      return Files.readString(DIRECTORY.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All documents of a YAML file, each of which is a map. */
  static List<JsonObject> documents(String file) {
    return StreamSupport.stream(yaml().loadAll(text(file)).spliterator(), false)
        .map(DeployFiles::asObject)
        .toList();
  }

  /** The only document of a YAML file. */
  static JsonObject document(String file) {
    return asObject(yaml().load(text(file)));
  }

  static Stream<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast);
  }

  static List<String> texts(JsonArray array) {
    return array.stream().map(String.class::cast).toList();
  }

  /** The environment of a service of compose.yaml. */
  static Map<String, String> composeEnvironment(JsonObject service) {
    Map<String, String> environment = new HashMap<>();
    service
        .getJsonObject("environment")
        .forEach(
            variable ->
                environment.put(
                    variable.getKey(),
                    COMPOSE_VARIABLE.matcher((String) variable.getValue()).replaceAll(SECRET)));
    return environment;
  }

  /** The pod that the StatefulSet makes. */
  static JsonObject pod() {
    return document("kubernetes/statefulset.yaml")
        .getJsonObject("spec")
        .getJsonObject("template")
        .getJsonObject("spec");
  }

  /** The one container of the pod. */
  static JsonObject container() {
    return pod().getJsonArray("containers").getJsonObject(0);
  }

  /**
   * The environment of the pod at {@code address}.
   *
   * @param store that the secret names
   */
  static Map<String, String> podEnvironment(String address, String store) {
    Map<String, String> environment = new HashMap<>();
    objects(container().getJsonArray("env"))
        .forEach(
            variable ->
                environment.put(
                    variable.getString("name"),
                    variable.containsKey("value")
                        ? variable.getString("value")
                        : elsewhere(variable.getJsonObject("valueFrom"), address, store)));
    return environment;
  }

  private static String elsewhere(JsonObject source, String address, String store) {
    if (source.containsKey("fieldRef")) {
      return switch (source.getJsonObject("fieldRef").getString("fieldPath")) {
        case "status.podIP" -> address;
        default -> throw new AssertionError("not known to the test: " + source);
      };
    }
    return source.getJsonObject("secretKeyRef").getString("key").equals("store") ? store : SECRET;
  }

  private static Yaml yaml() {
    return new Yaml(new SafeConstructor(new LoaderOptions()));
  }

  @SuppressWarnings("unchecked")
  private static JsonObject asObject(Object document) {
    return new JsonObject((Map<String, Object>) document);
  }
}
