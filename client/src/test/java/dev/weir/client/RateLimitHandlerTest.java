package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.client.RateLimitHandler.OnFailure;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RateLimitHandlerTest {

  private static final LimitStatus STATUS = Decisions.status("default", 10, 10, 7, 3000);
  private static final Decision ALLOWED = Decisions.allowed("acme", STATUS);

  private final Vertx vertx = Vertx.vertx();
  private final Router router = Router.router(vertx);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<CheckRequest> asked = new CopyOnWriteArrayList<>();
  private volatile Future<Decision> answer = Future.succeededFuture(ALLOWED);
  private HttpServer server;

  @BeforeEach
  void listen() {
    server = vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1").await();
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private RateLimitHandler handler() {
    return RateLimitHandler.create(
        request -> {
          asked.add(request);
          return answer;
        });
  }

  private void serve(RateLimitHandler handler) {
    router.route().handler(handler);
    router
        .route()
        .handler(
            ctx ->
                ctx.end(
                    RateLimitHandler.decision(ctx)
                        .map(decision -> "limited by " + decision.plan())
                        .orElse("unlimited")));
  }

  @Test
  void anAllowedRequestGoesOnAndItsAnswerBearsTheHeaders() throws Exception {
    serve(handler());
    HttpResponse<String> response = get();

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("limited by " + ALLOWED.plan());
    assertThat(response.headers().map())
        .containsKeys("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
        .containsKeys("x-ratelimit-stale", "ratelimit", "ratelimit-policy")
        .doesNotContainKeys("retry-after");
  }

  @Test
  void aDeniedRequestEndsWithTheProblemOfACheck() throws Exception {
    answer = Future.succeededFuture(Decisions.denied(900, STATUS));
    serve(handler());
    HttpResponse<String> response = get();

    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
    assertThat(response.headers().firstValue("Retry-After")).isPresent();
    assertThat(response.headers().map()).containsKeys("x-ratelimit-limit", "ratelimit");
    assertThat(new JsonObject(response.body()).getString("type"))
        .isEqualTo(DecisionJson.QUOTA_EXCEEDED);
  }

  @Test
  void aRequestThatIsRefusedSinceTheStoreIsAwayEndsWith503() throws Exception {
    answer = Future.succeededFuture(Decisions.refused(STATUS));
    serve(handler());
    HttpResponse<String> response = get();

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("Retry-After")).contains("1");
    JsonObject problem = new JsonObject(response.body());
    assertThat(problem.getInteger("status")).isEqualTo(503);
    assertThat(problem.getString("type")).isEqualTo(DecisionJson.TEMPORARY_REDUCED_CAPACITY);
  }

  @Test
  void aDegradedDecisionIsFlagged() throws Exception {
    answer =
        Future.succeededFuture(
            new Decision.Allowed("acme", "gold", STATUS, List.of(STATUS), 12, true));
    serve(handler());

    assertThat(get().headers().firstValue("X-RateLimit-Degraded")).contains("true");
  }

  @Test
  void theKeyIsTheApiKeyThenTheBearerTokenThenTheAddress() throws Exception {
    serve(handler());
    get("X-Api-Key", "acme", "Authorization", "Bearer tok");
    get("Authorization", "Bearer tok");
    get("X-Api-Key", "ip:192.0.2.1");
    get();

    assertThat(asked)
        .extracting(CheckRequest::key)
        .containsExactly("acme", "tok", "ip:127.0.0.1", "ip:127.0.0.1");
    assertThat(asked).extracting(CheckRequest::endpoint).containsOnly("");
  }

  @Test
  void keyAndEndpointAreTheApplicationsToChoose() throws Exception {
    serve(
        handler()
            .withKey(ctx -> "user-" + ctx.request().getParam("user"))
            .withEndpoint(ctx -> "search"));
    get();

    assertThat(asked).containsExactly(CheckRequest.of("user-7").withEndpoint("search"));
  }

  @Test
  void aRequestPassesWhenTheLimiterFails() throws Exception {
    answer = Future.failedFuture("no node answers");
    serve(handler());
    HttpResponse<String> response = get();

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("unlimited");
  }

  @Test
  void aRequestIsRefusedWhenTheLimiterFailsIfThatIsWished() throws Exception {
    answer = Future.failedFuture("no node answers");
    serve(handler().onFailure(OnFailure.REFUSE));

    assertThat(get().statusCode()).isEqualTo(503);
    answer = Future.succeededFuture(ALLOWED);
    assertThat(get().statusCode()).isEqualTo(200);
  }

  @Test
  void aRefusedCheckFailsTheRequestWithItsCode() throws Exception {
    answer = Future.failedFuture(CheckRefusedException.unknownKey("key: has no plan"));
    serve(handler());
    assertThat(get().statusCode()).isEqualTo(403);
  }

  @Test
  void aKeyThatIsNoneFailsTheRequest() throws Exception {
    serve(handler().withKey(ctx -> ""));
    assertThat(get().statusCode()).isEqualTo(400);
    assertThat(asked).isEmpty();
  }

  @Test
  void theBodyWaitsForTheDecision() throws Exception {
    Promise<Decision> late = Promise.promise();
    answer = late.future();
    router.route().handler(handler());
    router.route().handler(BodyHandler.create(false));
    router.route().handler(ctx -> ctx.end(ctx.body().asString()));
    String body = "b".repeat(500_000);
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(
            request().POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    await().until(() -> !asked.isEmpty());
    late.complete(ALLOWED);

    assertThat(response.get().body()).isEqualTo(body);
  }

  @Test
  void ofSeveralHandlersTheLastOneTellsItsNumbers() throws Exception {
    router.route().handler(handler());
    serve(handler());
    HttpResponse<String> response = get();

    assertThat(asked).hasSize(2);
    assertThat(response.headers().allValues("X-RateLimit-Limit")).hasSize(1);
    assertThat(response.headers().allValues("RateLimit")).hasSize(1);
  }

  private HttpRequest.Builder request() {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.actualPort() + "/things?user=7"));
  }

  private HttpResponse<String> get(String... headers) throws Exception {
    HttpRequest.Builder request = request().GET();
    return client.send(
        (headers.length == 0 ? request : request.headers(headers)).build(),
        BodyHandlers.ofString());
  }
}
