package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.openapi.router.RequestExtractor;
import io.vertx.openapi.contract.Location;
import io.vertx.openapi.contract.Operation;
import io.vertx.openapi.contract.Parameter;
import io.vertx.openapi.validation.RequestParameter;
import io.vertx.openapi.validation.RequestUtils;
import io.vertx.openapi.validation.ValidatableRequest;
import io.vertx.openapi.validation.impl.RequestParameterImpl;
import io.vertx.openapi.validation.impl.ValidatableRequestImpl;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Reads a call before it is held against the API's document. What is wrong with a body is said by
 * who knows what it is about, with every error in it; the document has the last word.
 */
final class CallReader implements RequestExtractor {

  private static final String JSON = "application/json";
  private static final String JSON_LINES = "application/x-ndjson";
  private static final String STEP = "dev.weir.node.step";

  /** A call with a body. */
  interface BodyCall {

    /**
     * Reads the body, and gives the step that does what it says.
     *
     * @param by who makes the call
     * @param name the last segment of the path
     */
    Supplier<Future<Void>> read(Caller by, String name, JsonObject body);
  }

  private final Map<String, BodyCall> bodyCalls = new HashMap<>();

  /** Tells how the body of an operation is read. */
  void add(String operationId, BodyCall call) {
    bodyCalls.put(operationId, call);
  }

  /** The step that the body of this call asks for, once it has been read and validated. */
  static Supplier<Future<Void>> step(RoutingContext context) {
    return context.get(STEP);
  }

  /** Taken from the path as it was sent: the router's own parameters mend what is malformed. */
  static String lastSegment(RoutingContext context) {
    String path = context.request().path();
    return PathText.decode(path.substring(path.lastIndexOf('/') + 1));
  }

  @Override
  public Future<ValidatableRequest> extractValidatableRequest(
      RoutingContext context, Operation operation) {
    return Future.succeededFuture(operation).compose(known -> read(context, known));
  }

  private Future<ValidatableRequest> read(RoutingContext context, Operation operation) {
    Map<String, RequestParameter> path = new HashMap<>();
    for (Parameter parameter : operation.getParameters()) {
      if (parameter.getIn() == Location.PATH) {
        // As JSON, which the validator takes a text for if it can: the key {} is no object.
        String text = Json.encode(lastSegment(context));
        path.put(parameter.getName(), new RequestParameterImpl(text));
      }
    }
    BodyCall call = bodyCalls.get(operation.getOperationId());
    if (call != null) {
      context.put(
          STEP, call.read(BearerToken.caller(context), lastSegment(context), body(context)));
    }
    return RequestUtils.extract(
            context.request(), operation, () -> Future.succeededFuture(context.body().buffer()))
        .map(
            rest ->
                new ValidatableRequestImpl(
                    rest.getCookies(),
                    rest.getHeaders(),
                    path,
                    rest.getQuery(),
                    rest.getBody(),
                    JSON));
  }

  /** The body of a call whose body is JSON lines. */
  static Future<Buffer> lines(RoutingContext context) {
    return Future.succeededFuture(context)
        .map(
            call -> {
              requireType(call, JSON_LINES);
              Buffer lines = call.body().buffer();
              return lines == null ? Buffer.buffer() : lines;
            });
  }

  /** The body of a call whose body is an object that is read only once it has been validated. */
  static Future<JsonObject> object(RoutingContext context) {
    return Future.succeededFuture(context).map(CallReader::body);
  }

  private static void requireType(RoutingContext context, String required) {
    String type = context.request().getHeader(HttpHeaders.CONTENT_TYPE);
    String essence = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!essence.equals(required)) {
      throw new RefusedCallException(415, "Content-Type: must be " + required);
    }
  }

  private static JsonObject body(RoutingContext context) {
    requireType(context, JSON);
    Buffer text = context.body().buffer();
    try {
      if (text != null && Json.decodeValue(text) instanceof JsonObject body) {
        return body;
      }
    } catch (DecodeException e) {
      // Refused below, as JSON of another kind is.
    }
    throw new RefusedCallException(400, "body: must be a JSON object");
  }
}
