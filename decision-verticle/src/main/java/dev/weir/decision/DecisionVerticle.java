package dev.weir.decision;

import dev.weir.client.LocalLimiters;
import dev.weir.lease.StoreClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The ways to ask a node: HTTP and the event bus. Deploy one instance per event loop, all with the
 * same {@link LocalLimiter}.
 *
 * <p>When it stops it first has callers leave, then answers what it has, and at last gives the
 * node's permits back to the store, so the lease verticle has to outlive it.
 */
public final class DecisionVerticle extends VerticleBase {

  /** Well below the time of a lease. */
  private static final long TEND_MILLIS = 250;

  /** How often leases that are over are looked for: other nodes may need their permits. */
  private static final long ENDS_MILLIS = 50;

  private static final long SETTLE_POLL_MILLIS = 5;
  private static final long SETTLE_AT_MOST_MILLIS = 1_000;

  /** Callers who ask once in that time find out by the answer that they have to go elsewhere. */
  private static final long LEAVE_MILLIS = 1_000;

  private static final long ANSWER_SECONDS = 3;
  private static final int IDLE_SECONDS = 60;

  /** Four names of 1 KiB in a query, percent-encoded to three times that. */
  private static final int MAX_REQUEST_LINE_BYTES = 16 * 1024;

  /** What gateways pass on: nginx lets clients send 32 KiB, and adds its own. */
  private static final int MAX_HEADER_BYTES = 64 * 1024;

  /** Makes the instances of one deployment share a port that the system chooses. */
  private static final int ANY_SHARED_PORT = -1;

  private final LocalLimiter limiter;
  private final StoreClock storeClock;
  private final Endpoint endpoint;
  private final boolean first;
  private EndpointServer server;
  private Draining draining;
  private CheckBus bus;

  /**
   * Where HTTP checks are answered.
   *
   * @param host to listen on
   * @param port to listen on; 0 lets the system choose
   * @param token that callers have to bear; empty to ask for none
   * @param trustedProxies whose X-Forwarded-For is believed
   * @param tls that is spoken; empty for HTTP in clear
   * @param bodyBytes that the bodies of all requests of an instance may take while they are read
   * @param bodyTime that each of them may take
   */
  public record Endpoint(
      String host,
      int port,
      Optional<String> token,
      List<AddressBlock> trustedProxies,
      Optional<ServerSSLOptions> tls,
      long bodyBytes,
      Duration bodyTime) {}

  /**
   * @param first whether this instance also looks after the keys: true for exactly one of a node
   */
  public DecisionVerticle(
      LocalLimiter limiter, StoreClock storeClock, Endpoint endpoint, boolean first) {
    this.limiter = limiter;
    this.storeClock = storeClock;
    this.endpoint = endpoint;
    this.first = first;
  }

  @Override
  public Future<?> start() {
    if (first) {
      LocalLimiters.register(vertx, limiter);
      vertx.setPeriodic(TEND_MILLIS, ignored -> limiter.decider().tendKeys());
      // A million leases may end at once.
      InTurns ends =
          new InTurns(
              limiter.decider()::endLeases, turn -> context.runOnContext(ignored -> turn.run()));
      vertx.setPeriodic(ENDS_MILLIS, ignored -> ends.begin());
    }
    CallerToken token = new CallerToken(endpoint.token());
    BodyRoom room = new BodyRoom(endpoint.bodyBytes());
    vertx.setPeriodic(endpoint.bodyTime().toMillis() / BodyRoom.LOOKS, ignored -> room.look());
    HttpAnswers answers = new HttpAnswers(storeClock::epochMillis, room);
    AuthorizeHandler authorize =
        new AuthorizeHandler(
            limiter,
            limiter.decider()::snapshot,
            new TrustedProxies(endpoint.trustedProxies()),
            token,
            answers);
    CheckHttpHandler handler =
        new CheckHttpHandler(
            limiter,
            limiter::requireDecidable,
            token,
            answers,
            new ReservationHandler(limiter, answers),
            authorize);
    draining = new Draining(handler);
    server =
        EndpointServer.create(
            vertx,
            new HttpServerOptions()
                .setHost(endpoint.host())
                .setPort(sharedPort(endpoint.port()))
                .setMaxInitialLineLength(MAX_REQUEST_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                // Of reading: one of writing too would have a listener at each answer.
                .setReadIdleTimeout(IDLE_SECONDS)
                .setIdleTimeoutUnit(TimeUnit.SECONDS)
                // Of WebSockets, which there are none; all messages would pass through it.
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setUseAlpn(true),
            endpoint.tls(),
            draining);
    return server
        .listen()
        .compose(
            ignored -> CheckBus.serve(vertx, limiter, vertx.isClustered(), storeClock::epochMillis))
        .onSuccess(serving -> bus = serving);
  }

  /**
   * The port that the servers of all instances are told to listen on.
   *
   * @param port of the endpoint
   */
  public static int sharedPort(int port) {
    return port == 0 ? ANY_SHARED_PORT : port;
  }

  /** The port that HTTP checks are answered on. Valid once deployed. */
  public int port() {
    return server.port();
  }

  /**
   * Has connections to come see what {@code tls} says, at all instances that share the port. From
   * any thread, once deployed.
   */
  public Future<?> renew(ServerSSLOptions tls) {
    return server.renew(tls);
  }

  @Override
  public Future<?> stop() {
    if (first) {
      LocalLimiters.unregister(vertx, limiter);
    }
    draining.begin();
    return vertx
        .timer(LEAVE_MILLIS, TimeUnit.MILLISECONDS)
        .compose(
            ignored ->
                Future.join(server.shutdown(ANSWER_SECONDS, TimeUnit.SECONDS), bus.stop())
                    .otherwiseEmpty())
        .compose(ignored -> giveAllBack());
  }

  private Future<Void> giveAllBack() {
    Promise<Void> settled = Promise.promise();
    awaitSettled(settled, SETTLE_AT_MOST_MILLIS / SETTLE_POLL_MILLIS);
    return settled.future();
  }

  private void awaitSettled(Promise<Void> settled, long looks) {
    limiter.decider().giveAllBack();
    if (limiter.decider().settled() || looks == 0) {
      settled.complete();
    } else {
      vertx.setTimer(SETTLE_POLL_MILLIS, ignored -> awaitSettled(settled, looks - 1));
    }
  }
}
