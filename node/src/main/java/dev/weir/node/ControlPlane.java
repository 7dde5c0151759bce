package dev.weir.node;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.config.ConfigRefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane over HTTP: plans, assignments and weights changed at run time, what is left of
 * a key, the state of the cluster, health and metrics.
 *
 * <p>Paths are matched as they were sent, without the router's normalisation: a key is whatever
 * stands percent-encoded between two slashes, {@code ..} included.
 */
final class ControlPlane extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(ControlPlane.class);

  private static final int MAX_BODY_BYTES = 1 << 20;
  private static final int IDLE_SECONDS = 60;

  /** Room for the longest key when each of its bytes is percent-encoded. */
  private static final int MAX_LINE_BYTES = 3 * CheckRequest.MAX_KEY_BYTES + 1024;

  private static final String JSON = "application/json";
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final Settings.Admin settings;
  private final ControlCalls calls;
  private final Supplier<String> metrics;

  private HttpServer server;

  ControlPlane(Settings.Admin settings, ControlCalls calls, Supplier<String> metrics) {
    this.settings = settings;
    this.calls = calls;
    this.metrics = metrics;
  }

  @Override
  public Future<?> start() {
    HttpServerOptions options =
        new HttpServerOptions()
            .setIdleTimeout(IDLE_SECONDS)
            .setMaxInitialLineLength(MAX_LINE_BYTES);
    server =
        vertx
            .createHttpServer(options)
            .requestHandler(router())
            .invalidRequestHandler(
                request -> {
                  Problem.of(400, "the request is malformed or too large").send(request.response());
                  request.connection().close();
                });
    return server.listen(settings.port(), settings.host());
  }

  @Override
  public Future<?> stop() {
    return server.close();
  }

  /** The port that it listens on, once deployed. */
  int port() {
    return server.actualPort();
  }

  private Router router() {
    Router router = Router.router(vertx);
    for (int status : List.of(400, 404, 413)) {
      router.errorHandler(status, context -> Problem.of(status).send(context.response()));
    }
    router.route().failureHandler(ControlPlane::fail);

    get(router, "/health/live", name -> calls.live());
    get(router, "/health/ready", name -> calls.ready());
    settings.token().ifPresent(token -> router.route().handler(new BearerToken(token)));
    route(router, HttpMethod.GET, "/metrics").handler(this::scrape);

    get(router, "/limits/:name", calls::limits);
    put(router, "/limits/:name", calls::putPlan);
    get(router, "/plans", name -> calls.plans());
    get(router, "/plans/:name", calls::plan);
    delete(router, "/plans/:name", calls::deletePlan);
    put(router, "/admin/limits/:name", calls::assign);
    delete(router, "/admin/limits/:name", calls::unassign);
    get(router, "/endpoints", name -> calls.endpoints());
    put(router, "/endpoints/:name", calls::putEndpoint);
    get(router, "/cluster", name -> calls.cluster());
    refuseOtherMethods(router);
    return router;
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

  private static Route route(Router router, HttpMethod method, String path) {
    return router.route(method, path).useNormalizedPath(false);
  }

  private static void get(Router router, String path, Function<String, Future<JsonObject>> call) {
    route(router, HttpMethod.GET, path)
        .method(HttpMethod.HEAD)
        .handler(
            context ->
                answer(
                    context,
                    () -> call.apply(lastSegment(context)),
                    body ->
                        context
                            .response()
                            .putHeader(HttpHeaders.CONTENT_TYPE, JSON)
                            .end(body.toBuffer())));
  }

  private static void put(
      Router router, String path, BiFunction<String, JsonObject, Future<Void>> call) {
    route(router, HttpMethod.PUT, path)
        .handler(BodyHandler.create(false).setBodyLimit(MAX_BODY_BYTES))
        .handler(
            context ->
                answer(
                    context,
                    () -> call.apply(lastSegment(context), body(context)),
                    done -> noContent(context)));
  }

  private static void delete(Router router, String path, Function<String, Future<Void>> call) {
    route(router, HttpMethod.DELETE, path)
        .handler(
            context ->
                answer(
                    context, () -> call.apply(lastSegment(context)), done -> noContent(context)));
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
        .onSuccess(
            text ->
                context.response().putHeader(HttpHeaders.CONTENT_TYPE, PROMETHEUS_TEXT).end(text))
        .onFailure(context::fail);
  }

  /** Taken from the path as it was sent: the router's own parameters mend what is malformed. */
  private static String lastSegment(RoutingContext context) {
    String path = context.request().path();
    return PathText.decode(path.substring(path.lastIndexOf('/') + 1));
  }

  private static JsonObject body(RoutingContext context) {
    String type = context.request().getHeader(HttpHeaders.CONTENT_TYPE);
    String essence = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!essence.equals(JSON)) {
      throw new RefusedCallException(415, "Content-Type: must be " + JSON);
    }
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
    } else if (context.statusCode() >= 400 && context.statusCode() < 500) {
      Problem.of(context.statusCode()).send(context.response());
    } else {
      LOG.error("A call of the control plane failed", failure);
      Problem.of(500).send(context.response());
    }
  }
}
