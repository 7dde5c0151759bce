package dev.weir.node;

import dev.weir.decision.ConnectionLimit;
import dev.weir.decision.DecisionVerticle;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.transport.Transport;
import java.time.Duration;
import java.util.Map;

/**
 * Vert.x's transport, but for the servers of the two planes, which accept no more connections than
 * their limit lets them. They would have to be told of a connection to limit it themselves, and
 * Vert.x does that when the headers of its first request are there: too late for those that come to
 * be many, and to be slow.
 */
final class GuardedTransport extends NioTransport implements Transport {

  private static final int MOST_OF_ADMIN = 1_000;

  /** The largest body, of 64 MiB, takes a while. */
  private static final Duration TIMEOUT_OF_ADMIN = Duration.ofMinutes(2);

  private record Place(String host, int port) {}

  private final Map<Place, ConnectionLimit> limits;

  /**
   * @param registry for what becomes of connections
   */
  GuardedTransport(Settings settings, MeterRegistry registry) {
    Settings.Http http = settings.http();
    Settings.Admin admin = settings.admin();
    limits =
        Map.of(
            new Place(http.host(), DecisionVerticle.sharedPort(http.port())),
            measured("http", http.maxConnections(), http.clientTimeout(), registry),
            new Place(admin.host(), admin.port()),
            measured("admin", MOST_OF_ADMIN, TIMEOUT_OF_ADMIN, registry));
  }

  private static ConnectionLimit measured(
      String endpoint, int most, Duration timeout, MeterRegistry registry) {
    ConnectionLimit limit = new ConnectionLimit(most, timeout);
    Gauge.builder("weir.connections", limit, ConnectionLimit::open)
        .tag("endpoint", endpoint)
        .description("Connections of clients")
        .register(registry);
    FunctionCounter.builder("weir.connections.refused", limit, ConnectionLimit::refused)
        .tag("endpoint", endpoint)
        .description("Connections closed as they were accepted, since there were too many")
        .register(registry);
    FunctionCounter.builder("weir.connections.cut", limit, ConnectionLimit::cut)
        .tag("endpoint", endpoint)
        .description("Connections cut since their clients were idle or too slow")
        .register(registry);
    return limit;
  }

  @Override
  public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
    super.configure(options, domainSocket, bootstrap);
    ConnectionLimit limit = limits.get(new Place(options.getHost(), options.getPort()));
    // The event bus of a cluster listens in the same way, where it may be told the same place.
    if (limit != null && options instanceof HttpServerOptions) {
      bootstrap.handler(limit);
    }
  }

  @Override
  public String name() {
    return "nio";
  }

  @Override
  public boolean available() {
    return isAvailable();
  }

  @Override
  public Throwable unavailabilityCause() {
    return super.unavailabilityCause();
  }

  @Override
  public io.vertx.core.spi.transport.Transport implementation() {
    return this;
  }
}
