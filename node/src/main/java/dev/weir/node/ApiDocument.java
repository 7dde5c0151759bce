package dev.weir.node;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.SchemaRepository;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.OpenAPIVersion;
import io.vertx.openapi.contract.impl.OpenAPIContractImpl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The API as it is written down in OpenAPI.
 *
 * @param text of the document
 * @param controlPlane what of it calls of the control plane are routed and validated by
 */
record ApiDocument(Buffer text, OpenAPIContract controlPlane) {

  private static final String RESOURCE = "/dev/weir/client/openapi.yaml";

  /** Reads the document, which takes some hundred milliseconds: not for an event loop. */
  static ApiDocument load() {
    byte[] text = read();
    Map<String, Object> document =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(Buffer.buffer(text).toString());
    return new ApiDocument(Buffer.buffer(text), contract(new JsonObject(document)));
  }

  private static byte[] read() {
    try (InputStream in = ApiDocument.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("there is no " + RESOURCE);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Put together here, since {@code OpenAPIContract.from} would hold the document against the
   * schema of OpenAPI at every start, which a test does once; and would read that schema through
   * the file system of Vert.x, which need not be let near the class path.
   */
  private static OpenAPIContract contract(JsonObject document) {
    JsonObject paths = document.getJsonObject("paths");
    // What has servers of its own is the data plane's.
    paths.getMap().values().removeIf(path -> ((Map<?, ?>) path).containsKey("servers"));
    for (String path : paths.fieldNames()) {
      dropWhatIsNotValidated(paths.getJsonObject(path));
    }
    SchemaRepository schemas =
        SchemaRepository.create(
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://")
                .setOutputFormat(OutputFormat.Basic));
    schemas.dereference(JsonSchema.of(document));
    return new OpenAPIContractImpl(schemas.resolve(document), OpenAPIVersion.V3_1, schemas);
  }

  /**
   * Only requests are validated, and the contract refuses to know media types other than JSON; a
   * body of such a type is read by who knows what it is about.
   */
  private static void dropWhatIsNotValidated(JsonObject path) {
    for (String member : path.fieldNames()) {
      if (path.getValue(member) instanceof JsonObject operation) {
        JsonObject body = operation.getJsonObject("requestBody");
        if (body != null && !body.getJsonObject("content").containsKey("application/json")) {
          operation.remove("requestBody");
        }
        operation.put(
            "responses",
            new JsonObject().put("default", new JsonObject().put("description", "any")));
      }
    }
  }
}
