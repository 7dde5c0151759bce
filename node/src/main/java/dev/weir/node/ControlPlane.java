package dev.weir.node;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.ConfigRefusedException;
import dev.weir.decision.EndpointServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import io.vertx.ext.web.openapi.router.OpenAPIRoute;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.Operation;
import io.vertx.openapi.validation.ValidatorException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane over HTTP: plans, assignments and weights changed at run time, what is left of
 * a key, the state of the cluster, health and metrics.
 *
 * <p>What can be called, and how, stands in the API's document, which calls are routed and
 * validated by. Paths are matched as they were sent, without the router's normalisation: a key is
 * whatever stands percent-encoded between two slashes, {@code ..} included.
 */
final class ControlPlane extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(ControlPlane.class);

  private static final int IDLE_SECONDS = 60;

  /** Room for the longest key when each of its bytes is percent-encoded. */
  private static final int MAX_LINE_BYTES = 3 * CheckRequest.MAX_KEY_BYTES + 1024;

  /** As many hot keys are told if it is not said how many. */
  private static final String HOT_KEYS = "20";

  /** The one operation with a body that is no JSON object. */
  private static final String MANY_KEYS = "assignMany";

  /** What other regions call. */
  private static final String EXCHANGE = "exchangeWeights";

  /** How the document calls the token of this plane. */
  private static final String BEARER = "bearer";

  private static final String JSON = "application/json";
  private static final String YAML = "application/yaml";
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final Settings.Admin settings;
  private final Optional<ServerSSLOptions> tls;
  private final Supplier<AdminTokens> tokens;
  private final Optional<Secret> regionToken;
  private final ControlCalls calls;
  private final RegionCalls regions;
  private final Supplier<String> metrics;
  private final ApiDocument api;

  private EndpointServer server;

  /**
   * @param tls that is spoken; empty for HTTP in clear
   * @param tokens that open it, as of each call
   * @param regionToken that other regions bring; empty to answer none of them
   * @param api that it serves, and that it is routed by
   */
  ControlPlane(
      Settings.Admin settings,
      Optional<ServerSSLOptions> tls,
      Supplier<AdminTokens> tokens,
      Optional<Secret> regionToken,
      ControlCalls calls,
      RegionCalls regions,
      Supplier<String> metrics,
      ApiDocument api) {
    this.settings = settings;
    this.tls = tls;
    this.tokens = tokens;
    this.regionToken = regionToken;
    this.calls = calls;
    this.regions = regions;
    this.metrics = metrics;
    this.api = api;
  }

  @Override
  public Future<?> start() {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(settings.host())
            .setPort(settings.port())
            // Over HTTP/2, Vert.x sends the body of an answer to HEAD.
            .setHttp2ClearTextEnabled(false)
            .setIdleTimeout(IDLE_SECONDS)
            .setMaxInitialLineLength(MAX_LINE_BYTES);
    server =
        EndpointServer.create(vertx, options, tls, router())
            .invalidRequests(
                request -> {
                  Problem.of(400, "the request is malformed or too large").send(request.response());
                  request.connection().close();
                });
    return server.listen();
  }

  @Override
  public Future<?> stop() {
    return server.close();
  }

  /** The port that it listens on, once deployed. */
  int port() {
    return server.port();
  }

  /** Has connections to come see what {@code renewed} says; from any thread, once deployed. */
  Future<?> renew(ServerSSLOptions renewed) {
    return server.renew(renewed);
  }

  private Router router() {
    CallReader reader = new CallReader();
    RouterBuilder builder = RouterBuilder.create(vertx, api.controlPlane(), reader);
    builder.rootHandler(new BearerToken(tokens, openPaths(api.controlPlane())));
    builder.rootHandler(regionsOnly(api.controlPlane().operation(EXCHANGE).getOpenAPIPath()));
    builder.rootHandler(new CallBody(api.controlPlane().operation(MANY_KEYS).getOpenAPIPath()));

    get(builder, "getLive", name -> calls.live());
    get(builder, "getReady", name -> calls.ready());
    handle(builder, "getMetrics", this::scrape);
    handle(builder, "getApi", context -> send(context, YAML, api.text()));

    get(builder, "getLimits", calls::limits);
    put(builder, reader, "putPlan", calls::putPlan);
    get(builder, "getPlans", name -> calls.plans());
    get(builder, "getPlan", calls::plan);
    order(builder, "deletePlan", calls::deletePlan);
    put(builder, reader, "assign", calls::setKey);
    show(builder, MANY_KEYS, this::setKeys);
    order(builder, "unassign", calls::clearKey);
    order(builder, "reset", calls::reset);
    get(builder, "getUsage", calls::usage);
    show(builder, "getHotKeys", context -> calls.hotKeys(hotKeysAsked(context)));
    get(builder, "getAudit", name -> calls.recentChanges());
    get(builder, "getEndpoints", name -> calls.endpoints());
    put(builder, reader, "putEndpoint", calls::putEndpoint);
    get(
        builder,
        "getCluster",
        name -> calls.cluster().map(shown -> shown.mergeIn(regions.shown())));
    put(builder, reader, "putRegions", (by, name, body) -> regions.putTable(by, body));
    show(builder, EXCHANGE, context -> CallReader.object(context).compose(regions::exchange));

    Router router = builder.createRouter();
    for (Route route : router.getRoutes()) {
      if (route.getPath() != null) {
        route.useNormalizedPath(false);
        if (route.methods().contains(HttpMethod.GET)) {
          route.method(HttpMethod.HEAD);
        }
      }
    }
    refuseOtherMethods(router);
    for (int status : List.of(400, 404, 413)) {
      router.errorHandler(status, context -> Problem.of(status).send(context.response()));
    }
    router.route().failureHandler(ControlPlane::fail);
    return router;
  }

  /** Lets a call of {@code path} pass that brings the token of the regions, and no other. */
  private SecurityPolicyHandler regionsOnly(String path) {
    AdminTokens tokenOfRegions = AdminTokens.of(regionToken);
    BearerToken asked = new BearerToken(() -> tokenOfRegions, Set.of());
    return context -> {
      if (!RoutedPath.of(context.request()).equals(path)) {
        context.next();
      } else if (regionToken.isPresent()) {
        asked.handle(context);
      } else {
        Problem.of(403, "this node has no region_token").send(context.response());
      }
    };
  }

  /** Those that the document asks no token for, or another one than this plane's. */
  private static Set<String> openPaths(OpenAPIContract contract) {
    return contract.operations().stream()
        .filter(
            operation ->
                operation.getSecurityRequirements().stream()
                    .noneMatch(required -> required.getNames().contains(BEARER)))
        .map(Operation::getOpenAPIPath)
        .collect(Collectors.toSet());
  }

  /** Of every path that has been routed so far. */
  private static void refuseOtherMethods(Router router) {
    Map<String, Set<String>> allowed = new TreeMap<>();
    for (Route route : router.getRoutes()) {
      if (route.getPath() != null) {
        Set<String> methods = allowed.computeIfAbsent(route.getPath(), path -> new TreeSet<>());
        route.methods().forEach(method -> methods.add(method.name()));
      }
    }
    allowed.forEach(
        (path, methods) ->
            router
                .route(path)
                .useNormalizedPath(false)
                .handler(
                    context -> {
                      context.response().putHeader(HttpHeaders.ALLOW, String.join(", ", methods));
                      Problem.of(405).send(context.response());
                    }));
  }

  private static void get(
      RouterBuilder builder, String operationId, Function<String, Future<JsonObject>> call) {
    show(builder, operationId, context -> call.apply(CallReader.lastSegment(context)));
  }

  private static void show(
      RouterBuilder builder,
      String operationId,
      Function<RoutingContext, Future<JsonObject>> call) {
    handle(
        builder,
        operationId,
        context ->
            answer(
                context, () -> call.apply(context), body -> send(context, JSON, body.toBuffer())));
  }

  private Future<JsonObject> setKeys(RoutingContext context) {
    return CallBody.working(
        context,
        CallReader.lines(context)
            .compose(
                lines ->
                    vertx.executeBlocking(
                        () -> calls.setKeys(BearerToken.caller(context), lines), false))
            .compose(set -> set));
  }

  private static String hotKeysAsked(RoutingContext context) {
    String given = context.request().getParam("limit");
    return given == null ? HOT_KEYS : given;
  }

  private static void put(
      RouterBuilder builder, CallReader reader, String operationId, CallReader.BodyCall call) {
    reader.add(operationId, call);
    handle(
        builder,
        operationId,
        context -> answer(context, CallReader.step(context), done -> noContent(context)));
  }

  /** A call without a body that changes something. */
  private static void order(
      RouterBuilder builder, String operationId, BiFunction<Caller, String, Future<Void>> call) {
    handle(
        builder,
        operationId,
        context ->
            answer(
                context,
                () -> call.apply(BearerToken.caller(context), CallReader.lastSegment(context)),
                done -> noContent(context)));
  }

  private static void handle(
      RouterBuilder builder, String operationId, Handler<RoutingContext> handler) {
    OpenAPIRoute route = builder.getRoute(operationId);
    Operation operation = route.getOperation();
    route
        // The token has been asked for before, for paths that do not exist as well.
        .setDoSecurity(false)
        // It takes a worker thread, which the health of a node must not wait for.
        .setDoValidation(operation.getRequestBody() != null || !operation.getParameters().isEmpty())
        .addHandler(handler);
  }

  private static <T> void answer(
      RoutingContext context, Supplier<Future<T>> call, Consumer<T> success) {
    call.get().onSuccess(success::accept).onFailure(context::fail);
  }

  private static Future<Void> noContent(RoutingContext context) {
    return context.response().setStatusCode(204).end();
  }

  private void scrape(RoutingContext context) {
    vertx
        .executeBlocking(metrics::get)
        .onSuccess(text -> send(context, PROMETHEUS_TEXT, Buffer.buffer(text)))
        .onFailure(context::fail);
  }

  private static void send(RoutingContext context, String contentType, Buffer body) {
    context.response().putHeader(HttpHeaders.CONTENT_TYPE, contentType).end(body);
  }

  private static void fail(RoutingContext context) {
    if (context.response().ended()) {
      return;
    }
    Throwable failure = context.failure();
    if (failure instanceof RefusedCallException refused) {
      Problem.of(refused.status(), refused.getMessage()).send(context.response());
    } else if (failure instanceof ConfigRefusedException refused) {
      new Problem(refused.code(), refused.errors()).send(context.response());
    } else if (failure instanceof CheckRefusedException refused) {
      Problem.of(refused.code(), refused.getMessage()).send(context.response());
    } else if (failure instanceof HttpException invalid
        && invalid.getCause() instanceof ValidatorException reason) {
      Problem.of(400, reason.getMessage()).send(context.response());
    } else if (failure instanceof TimeoutException
        || failure instanceof RejectedExecutionException) {
      context.response().putHeader(HttpHeaders.RETRY_AFTER, "1");
      Problem.of(503, "the cluster did not answer in time; the change may be in force later")
          .send(context.response());
    } else if (context.statusCode() >= 400 && context.statusCode() < 500) {
      Problem.of(context.statusCode()).send(context.response());
    } else {
      LOG.error("A call of the control plane failed", failure);
      Problem.of(500).send(context.response());
    }
  }
}
