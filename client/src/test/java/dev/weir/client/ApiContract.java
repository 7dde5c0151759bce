package dev.weir.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Holds what a node answers against the API's document: the status is one that the operation has,
 * with its headers and no others, and with a body that follows its schema. What was answered with
 * success must have been asked as the document says.
 *
 * <p>Every HTTP client of the tests passes through here. Safe to use from any thread.
 */
public enum ApiContract {
  /** On {@code http.port}. */
  DATA_PLANE,
  /** On {@code admin.port}. */
  CONTROL_PLANE;

  /** An answer as it came. */
  public record Answered(int status, Map<String, List<String>> headers, String body) {

    private List<String> header(String name) {
      return headers.entrySet().stream()
          .filter(header -> header.getKey().equalsIgnoreCase(name))
          .flatMap(header -> header.getValue().stream())
          .toList();
    }

    private String mediaType() {
      return String.join(",", header("Content-Type")).split(";", 2)[0];
    }
  }

  /** What belongs to HTTP itself. */
  private static final Set<String> TRANSPORT =
      Set.of("content-type", "content-length", "transfer-encoding", "connection", "date");

  private static final String ANY_METHOD = "/v1/authorize";
  private static final ApiSchemas API = ApiSchemas.load();

  /** The methods of each path of the document, in capitals. */
  public Map<String, Set<String>> operations() {
    return API.operations(this == CONTROL_PLANE);
  }

  /** Sends {@code request}, and fails if it or its answer is not what the document says. */
  public HttpResponse<String> send(HttpClient client, HttpRequest request)
      throws IOException, InterruptedException {
    return checked(request, client.send(request, BodyHandlers.ofString()));
  }

  /** The same; the future fails if the document says something else. */
  public CompletableFuture<HttpResponse<String>> sendAsync(HttpClient client, HttpRequest request) {
    return client
        .sendAsync(request, BodyHandlers.ofString())
        .thenApply(response -> checked(request, response));
  }

  private HttpResponse<String> checked(HttpRequest request, HttpResponse<String> response) {
    check(
        request.method(),
        request.uri(),
        request.bodyPublisher().map(RequestText::of).orElse(""),
        new Answered(response.statusCode(), response.headers().map(), response.body()));
    return response;
  }

  /** Fails if the answer to a request is not what the document says. */
  public void check(String method, URI uri, String requestBody, Answered answer) {
    List<String> faults = new ArrayList<>();
    Optional<String> path = API.pathOf(this == CONTROL_PLANE, uri.getRawPath());
    Optional<JsonObject> operation = path.flatMap(known -> operation(known, method));
    Optional<JsonObject> response =
        operation.isPresent()
            ? API.response(operation.get(), answer.status())
            : responseToUnknown(path, answer, faults);
    if (response.isEmpty()) {
      faults.add("has no status " + answer.status());
    } else {
      checkHeaders(response.get(), answer, faults);
      checkBody(response.get(), answer, method.equals("HEAD"), faults);
    }
    if (operation.isPresent() && answer.status() < 300 && !path.get().startsWith(ANY_METHOD)) {
      checkQuery(operation.get(), uri, faults);
      checkRequestBody(operation.get(), requestBody, faults);
    }
    if (!faults.isEmpty()) {
      throw new AssertionError(
          "%s %s %s is not in the API's document: %s%n%s%n%s"
              .formatted(this, method, uri, String.join("; ", faults), requestBody, answer));
    }
  }

  private Optional<JsonObject> operation(String path, String method) {
    JsonObject item = API.path(path);
    String name = method.toLowerCase(Locale.ROOT);
    boolean asGet = path.startsWith(ANY_METHOD) || (this == CONTROL_PLANE && method.equals("HEAD"));
    return Optional.ofNullable(item.getJsonObject(name, asGet ? item.getJsonObject("get") : null));
  }

  /**
   * A token may be asked for, or too much refused, before the path and the method are looked at.
   */
  private Optional<JsonObject> responseToUnknown(
      Optional<String> path, Answered answer, List<String> faults) {
    boolean control = this == CONTROL_PLANE;
    String name =
        switch (answer.status()) {
          case 401 -> control ? "Unauthorized" : "CheckUnauthorized";
          case 404 -> path.isEmpty() ? "NoSuchPath" : "";
          case 405 -> path.isPresent() ? "MethodNotAllowed" : "";
          case 413 -> control ? "ContentTooLarge" : "";
          default -> "";
        };
    if (name.equals("MethodNotAllowed")) {
      Set<String> methods = API.methods(path.orElseThrow());
      if (control && methods.contains("GET")) {
        methods.add("HEAD");
      }
      Set<String> allowed = new TreeSet<>(Arrays.asList(allow(answer)));
      if (!allowed.equals(methods)) {
        faults.add("the path has the methods " + methods);
      }
    }
    return name.isEmpty() ? Optional.empty() : Optional.of(API.response(name));
  }

  private static String[] allow(Answered answer) {
    return String.join(",", answer.header("Allow")).split(", *");
  }

  private static void checkHeaders(JsonObject response, Answered answer, List<String> faults) {
    JsonObject known = response.getJsonObject("headers", new JsonObject());
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (String name : ApiSchemas.membersOf(known)) {
      names.add(name);
      JsonObject header = known.getJsonObject(name);
      List<String> values = answer.header(name);
      if (values.isEmpty() && header.getBoolean("required", false)) {
        faults.add(name + " is missing");
      } else if (values.size() > 1) {
        faults.add(name + " is there twice");
      } else if (!values.isEmpty()) {
        JsonObject schema = header.getJsonObject("schema");
        API.faults(schema, ApiSchemas.typed(schema, values.get(0)))
            .forEach(fault -> faults.add(name + " " + fault));
      }
    }
    for (String name : answer.headers().keySet()) {
      if (!name.startsWith(":") && !TRANSPORT.contains(name) && !names.contains(name)) {
        faults.add(name + " is unknown");
      }
    }
  }

  private static void checkBody(
      JsonObject response, Answered answer, boolean withoutBody, List<String> faults) {
    JsonObject content = response.getJsonObject("content", new JsonObject());
    if (withoutBody || ApiSchemas.membersOf(content).isEmpty()) {
      if (!answer.body().isEmpty()) {
        faults.add("has no body");
      }
      return;
    }
    String type = answer.mediaType();
    if (!content.containsKey(type)) {
      faults.add("has no media type " + type);
      return;
    }
    JsonObject schema = content.getJsonObject(type).getJsonObject("schema");
    if (!type.endsWith("json")) {
      faults.addAll(API.faults(schema, answer.body()));
      return;
    }
    Object body = decoded(answer.body(), faults);
    API.faults(schema, body).forEach(fault -> faults.add("body " + fault));
    if (body instanceof JsonObject problem && type.equals("application/problem+json")) {
      if (!Integer.valueOf(answer.status()).equals(problem.getValue("status"))) {
        faults.add("body has another status");
      }
      // Both say whether waiting helps.
      if (problem.containsKey("retry_after")
          && (problem.getValue("retry_after") == null) != answer.header("Retry-After").isEmpty()) {
        faults.add("Retry-After does not go with retry_after");
      }
    }
  }

  private static Object decoded(String text, List<String> faults) {
    try {
      return Json.decodeValue(text);
    } catch (DecodeException e) {
      faults.add("is not JSON");
      return new JsonArray();
    }
  }

  private static void checkQuery(JsonObject operation, URI uri, List<String> faults) {
    Map<String, String> given = new LinkedHashMap<>();
    String query = uri.getRawQuery();
    for (String pair : query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      String value = parts.length == 2 ? parts[1] : "";
      given.put(URLDecoder.decode(parts[0], UTF_8), URLDecoder.decode(value, UTF_8));
    }
    for (Object each : operation.getJsonArray("parameters", new JsonArray())) {
      JsonObject parameter = (JsonObject) each;
      String value = given.remove(parameter.getString("name"));
      if (!parameter.getString("in").equals("query")) {
        continue;
      }
      if (value != null) {
        JsonObject schema = parameter.getJsonObject("schema");
        API.faults(schema, ApiSchemas.typed(schema, value))
            .forEach(fault -> faults.add("query " + fault));
      } else if (parameter.getBoolean("required", false)) {
        faults.add("the query has no " + parameter.getString("name"));
      }
    }
    given.keySet().forEach(name -> faults.add("the query knows no " + name));
  }

  private static void checkRequestBody(JsonObject operation, String text, List<String> faults) {
    JsonObject body = operation.getJsonObject("requestBody");
    if (body == null) {
      return;
    }
    if (text.isEmpty()) {
      if (body.getBoolean("required", false)) {
        faults.add("a body is required");
      }
      return;
    }
    JsonObject content = body.getJsonObject("content");
    JsonObject json = content.getJsonObject("application/json");
    if (json == null) {
      for (String type : ApiSchemas.membersOf(content)) {
        API.faults(content.getJsonObject(type).getJsonObject("schema"), text)
            .forEach(fault -> faults.add("body of the request " + fault));
      }
      return;
    }
    API.faults(json.getJsonObject("schema"), decoded(text, faults))
        .forEach(fault -> faults.add("body of the request " + fault));
  }
}
