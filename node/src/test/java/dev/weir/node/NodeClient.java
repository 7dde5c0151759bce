package dev.weir.node;

import dev.weir.client.ApiContract;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Asks one node, over HTTP, and holds what it answers against the API's document. Safe to use from
 * any thread.
 */
final class NodeClient {

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();

  private final URI data;
  private final URI admin;

  NodeClient(URI data, URI admin) {
    this.data = data;
    this.admin = admin;
  }

  /** A check of {@code key} under the plan that the node knows it to be on, cost 1. */
  Answer check(String key) {
    return check(new JsonObject().put("key", key));
  }

  /** A check of {@code key} under {@code plan}. */
  Answer check(String key, String plan, long cost) {
    return check(new JsonObject().put("key", key).put("plan", plan).put("cost", cost));
  }

  Answer check(JsonObject body) {
    return post("/v1/check", body.encode());
  }

  Answer batch(JsonArray checks) {
    return post("/v1/check/batch", new JsonObject().put("checks", checks).encode());
  }

  /** Posts JSON text to the data plane. */
  Answer post(String path, String json) {
    return send(json(data, path).POST(BodyPublishers.ofString(json)));
  }

  /** Gets from the data plane. */
  Answer get(String pathAndQuery) {
    return send(to(data, pathAndQuery).GET());
  }

  /** Sends any request to the data plane. */
  Answer request(String method, String path, String contentType, String body) {
    return send(
        to(data, path)
            .header("Content-Type", contentType)
            .method(method, BodyPublishers.ofString(body)));
  }

  /** Creates or changes a plan, which must be accepted. */
  void putPlan(String name, String json) {
    accepted(adminPut("/limits/" + name, json));
  }

  /** Puts a key on a plan, which must be accepted. */
  void assign(String key, String plan) {
    accepted(adminPut("/admin/limits/" + encode(key), new JsonObject().put("tier", plan).encode()));
  }

  Answer adminPut(String path, String json) {
    return send(json(admin, path).PUT(BodyPublishers.ofString(json)));
  }

  /** Has what a key has used be forgotten, which must be done. */
  void reset(String key) {
    accepted(send(to(admin, "/admin/reset/" + encode(key)).POST(BodyPublishers.noBody())));
  }

  Answer adminGet(String path) {
    return send(to(admin, path).GET());
  }

  Answer adminDelete(String path) {
    return send(to(admin, path).DELETE());
  }

  /** What is left of a key's limit across the fleet, read from the store. */
  long remaining(String key) {
    Answer answer = adminGet("/limits/" + encode(key));
    if (answer.status() != 200) {
      throw new AssertionError("no limits of " + key + ": " + answer);
    }
    return answer.remaining();
  }

  /** The sum of a metric over all its labels. */
  double metric(String name) {
    return adminGet("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** How many nodes this one sees in its cluster. */
  int nodes() {
    return adminGet("/cluster").json().getInteger("nodes");
  }

  URI data() {
    return data;
  }

  URI admin() {
    return admin;
  }

  /** Percent-encoded, for a path or a query. */
  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static void accepted(Answer answer) {
    if (answer.status() != 204) {
      throw new AssertionError("not accepted: " + answer);
    }
  }

  private static HttpRequest.Builder json(URI base, String path) {
    return to(base, path).header("Content-Type", "application/json");
  }

  private static HttpRequest.Builder to(URI base, String pathAndQuery) {
    return HttpRequest.newBuilder(URI.create(base + pathAndQuery)).timeout(TIMEOUT);
  }

  private Answer send(HttpRequest.Builder builder) {
    HttpRequest request = builder.build();
    ApiContract contract =
        request.uri().getPort() == admin.getPort()
            ? ApiContract.CONTROL_PLANE
            : ApiContract.DATA_PLANE;
    try {
      return Answer.of(contract.send(HTTP, request));
    } catch (IOException e) {
      throw new AssertionError("no answer: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
