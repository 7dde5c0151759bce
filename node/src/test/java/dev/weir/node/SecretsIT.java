package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a node says of what it is told in confidence: nothing. All secrets here have a mark. */
class SecretsIT {

  private static final String MARK = "m4rked";
  private static final String KEY = MARK + "-key";
  private static final String TOKEN = MARK + "-token-of-the-node";
  private static final String PASSWORD = MARK + "-password";

  @TempDir Path directory;

  @Test
  void theLogHasNoKeyAndNoTokenWhateverIsSent() throws Exception {
    Path tokens = Files.writeString(directory.resolve("tokens"), "alice: " + TOKEN + "-of-alice");
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_HTTP_TOKEN", TOKEN);
    settings.put("WEIR_ADMIN_TOKEN", TOKEN);
    settings.put("WEIR_ADMIN_TOKENS_FILE", tokens.toString());
    try (RedisServer redis = RedisServer.start()) {
      // There is no such user, so that every call is refused until somebody makes it.
      settings.put("WEIR_STORE", redis.url().replace("//", "//" + MARK + ":" + PASSWORD + "@"));
      try (RunningNode node = RunningNode.start(settings)) {
        Files.writeString(tokens, TOKEN + "-without-a-name");
        sendToCallers(node.client().data());
        sendToOperators(node.client().admin());
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> node.log().stream().anyMatch(line -> line.contains("stays in force")));
        assertThat(node.terminate()).isZero();

        List<String> log = node.log();
        assertThat(log)
            .anyMatch(line -> line.contains("not connected to"))
            .anyMatch(line -> line.contains("deciding without the store"))
            .anyMatch(line -> line.contains("set_key sha256:"))
            .noneMatch(line -> line.contains(MARK));
        assertThat(node.output()).noneMatch(line -> line.contains(PASSWORD));
      }
    }
  }

  private static void sendToCallers(URI data) throws Exception {
    String bearer = "Bearer " + TOKEN;
    assertThat(get(data, "/v1/check?key=" + KEY, bearer)).isEqualTo(200);
    assertThat(get(data, "/v1/check?key=" + KEY, bearer + "x")).isEqualTo(401);
    assertThat(get(data, "/v1/check?key=" + KEY + "&cost=" + KEY, bearer)).isEqualTo(400);
    assertThat(get(data, "/v1/check?key=" + KEY + "%zz", bearer)).isEqualTo(400);
    assertThat(get(data, "/v1/check?key=" + KEY.repeat(200), bearer)).isEqualTo(400);
    assertThat(get(data, "/" + KEY, bearer)).isEqualTo(404);
    assertThat(get(data, "/v1/authorize?deny=" + KEY, bearer)).isNotEqualTo(500);
    for (String body :
        List.of(
            "{\"key\":\"" + KEY,
            "{\"key\":\"" + KEY + "\",\"plan\":\"" + KEY + "\"}",
            "{\"key\":[\"" + KEY + "\"]}",
            "\"" + KEY + "\"")) {
      assertThat(post(data, "/v1/check", body, bearer)).isBetween(400, 499);
      assertThat(post(data, "/v1/reservations", body, bearer)).isBetween(400, 499);
    }
    String batch =
        new JsonObject()
            .put("checks", new JsonArray().add(new JsonObject().put("key", KEY)).add(KEY))
            .encode();
    assertThat(post(data, "/v1/check/batch", batch, bearer)).isEqualTo(400);
    RawHttp.status(data.getPort(), "GET /v1/check?key=" + KEY + "\u0001", "X-Api-Key: " + KEY);
    RawHttp.status(data.getPort(), KEY, "Authorization: " + bearer);
  }

  private static void sendToOperators(URI admin) throws Exception {
    String bearer = "Bearer " + TOKEN;
    String assignment = "{\"tier\":\"gold\"}";
    assertThat(put(admin, "/admin/limits/" + KEY, assignment, bearer)).isEqualTo(204);
    assertThat(put(admin, "/admin/limits/" + KEY, "{\"tier\":\"" + KEY, bearer)).isEqualTo(400);
    assertThat(put(admin, "/admin/limits/" + KEY, assignment, bearer + "x")).isEqualTo(401);
    assertThat(get(admin, "/limits/" + KEY, bearer)).isBetween(200, 503);
    assertThat(get(admin, "/usage/" + KEY, bearer)).isBetween(200, 503);
    assertThat(post(admin, "/admin/reset/" + KEY, "", bearer)).isBetween(200, 503);
  }

  private static int get(URI base, String path, String authorization) throws Exception {
    return send(base, path, authorization, "GET", "");
  }

  private static int put(URI base, String path, String body, String authorization)
      throws Exception {
    return send(base, path, authorization, "PUT", body);
  }

  private static int post(URI base, String path, String body, String authorization)
      throws Exception {
    return send(base, path, authorization, "POST", body);
  }

  private static int send(URI base, String path, String authorization, String method, String body)
      throws Exception {
    if (path.contains("%zz")) {
      // No client sends that.
      return RawHttp.status(base.getPort(), method + " " + path, "Authorization: " + authorization);
    }
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("Authorization", authorization)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
  }
}
