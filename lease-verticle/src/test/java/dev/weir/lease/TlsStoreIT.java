package dev.weir.lease;

import static dev.weir.lease.StoreDriver.await;
import static dev.weir.lease.StoreDriver.limit;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores over TLS, on a Redis of this machine that speaks it. */
final class TlsStoreIT {
  private static final Limit WIDE = limit(1, Duration.ofSeconds(1), 1_000_000_000_000L);
  private static final String LOOPBACK = "ip:127.0.0.1,dns:localhost";
  private static final int ATTEMPTS = 4;

  @TempDir private static Path directory;
  private static Vertx vertx;
  private static Certificates certificates;

  /** A server that listens without TLS as well, for those who look behind the store. */
  private record Secured(RedisServer server, int port) implements AutoCloseable {

    static Secured start(String certificate, String... arguments) {
      int port = RedisProcess.freePort();
      List<String> all = new ArrayList<>(List.of(arguments));
      all.addAll(List.of("--tls-port", Integer.toString(port), "--tls-auth-clients", "no"));
      all.addAll(List.of("--tls-cert-file", certificates.certificate(certificate).toString()));
      all.addAll(List.of("--tls-key-file", certificates.key(certificate).toString()));
      all.addAll(List.of("--tls-ca-cert-file", certificates.authority().toString()));
      try {
        return new Secured(RedisServer.startProcess(all.toArray(String[]::new)), port);
      } catch (RuntimeException e) {
        Assumptions.assumeFalse(
            RedisProcess.onPath().isEmpty(), "the bundled Redis speaks no TLS: " + e.getMessage());
        throw e;
      }
    }

    String url() {
      return "rediss://127.0.0.1:" + port;
    }

    /** Has connections to come see another certificate. */
    void show(String certificate) {
      assertThat(
              server.call(
                  "CONFIG",
                  "SET",
                  "tls-cert-file",
                  certificates.certificate(certificate).toString(),
                  "tls-key-file",
                  certificates.key(certificate).toString()))
          .isEqualTo("OK");
    }

    @Override
    public void close() {
      server.close();
    }
  }

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    certificates =
        Certificates.in(directory)
            .issue("server", LOOPBACK)
            .issue("elsewhere", "ip:192.0.2.1,dns:elsewhere.example")
            .selfSign("unknown", LOOPBACK);
  }

  @AfterAll
  static void end() {
    await(vertx.close());
  }

  private static StoreDriver open(String url) {
    return new StoreDriver(
        vertx,
        Stores.open(
            StoreUrl.parse(url),
            "weir",
            Duration.ofMinutes(1),
            StoreDriver.TIMEOUT,
            StoreDriver.ROOM,
            vertx,
            Clock.system(),
            new SimpleMeterRegistry()));
  }

  /** Trusts the authority that signed the server's certificate. */
  private static String trusting(String url) {
    return url + "?cacert=" + certificates.authority();
  }

  private static void assertServes(String url) {
    try (StoreDriver store = open(url).start()) {
      assertThat(store.granted("acme", WIDE, 1)).isEqualTo(1);
    }
  }

  @Test
  void aCertificateOfATrustedAuthorityIsAccepted() {
    try (Secured redis = Secured.start("server")) {
      assertServes(trusting(redis.url()));
      assertServes(trusting(redis.url().replace("127.0.0.1", "localhost")));
      assertThat((Long) redis.server.call("DBSIZE")).isPositive();
    }
  }

  @Test
  void whatTheJvmTrustsIsTrusted() {
    Map<String, String> trust =
        Map.of(
            "javax.net.ssl.trustStore",
            certificates.trustStore().toString(),
            "javax.net.ssl.trustStorePassword",
            certificates.trustStorePassword());
    try (Secured redis = Secured.start("server")) {
      trust.forEach(System::setProperty);
      assertServes(redis.url());
    } finally {
      trust.keySet().forEach(System::clearProperty);
    }
  }

  @Test
  void aCertificateThatNobodyTrustedHasSignedIsRefusedUntilThereIsAnother() {
    try (Secured redis = Secured.start("unknown")) {
      assertRefusedUntilMended(redis, trusting(redis.url()), "certification path");
    }
  }

  @Test
  void whatTheJvmDoesNotTrustIsRefused() {
    try (Secured redis = Secured.start("server");
        LogLines log = new LogLines();
        StoreDriver store = open(redis.url())) {
      assertRefused(redis, store, log, "certification path");
    }
  }

  @Test
  void aCertificateForAnotherHostIsRefusedUntilThereIsAnother() {
    try (Secured redis = Secured.start("elsewhere")) {
      assertRefusedUntilMended(redis, trusting(redis.url()), "127.0.0.1");
    }
  }

  private static void assertRefusedUntilMended(Secured redis, String url, String reason) {
    try (LogLines log = new LogLines();
        StoreDriver store = open(url)) {
      assertRefused(redis, store, log, reason);
      redis.show("server");
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(store.store()::healthy);
      assertThat(store.granted("acme", WIDE, 1)).isEqualTo(1);
      assertThat(log.all()).hasSize(1);
    }
  }

  /** One line says why, however often it is tried. */
  private static void assertRefused(Secured redis, StoreDriver store, LogLines log, String reason) {
    store.on(store.store()::start);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> brokenOff(redis.server) >= ATTEMPTS);
    assertThat(store.store().healthy()).isFalse();
    assertThat(store.refill(List.of(new Refill("acme", List.of(StoreDriver.take(WIDE, 1))))))
        .hasOnlyElementsOfType(RefillOutcome.Unavailable.class);
    assertThat(log.all())
        .singleElement()
        .asString()
        .startsWith("not connected to 127.0.0.1:" + redis.port + ": ")
        .contains(reason)
        .doesNotContain("\n");
    assertThat(redis.server.clientConnections()).isLessThanOrEqualTo(1);
  }

  /** How many connections have ended before they were made, as the server has it. */
  private static long brokenOff(RedisServer server) {
    return server.log().lines().filter(line -> line.contains("Error accepting a client")).count();
  }

  @Test
  void aServerThatAsksWhoWeAreIsTold() {
    try (Secured redis = Secured.start("server")) {
      assertThat(redis.server.call("CONFIG", "SET", "tls-auth-clients", "yes")).isEqualTo("OK");
      String identity =
          "&cert=" + certificates.certificate("server") + "&key=" + certificates.key("server");
      assertServes(trusting(redis.url()) + identity);
      try (LogLines log = new LogLines();
          StoreDriver anonymous = open(trusting(redis.url()))) {
        anonymous.on(anonymous.store()::start);
        Awaitility.await().until(() -> !log.all().isEmpty());
        assertThat(anonymous.store().healthy()).isFalse();
      }
    }
  }

  @Test
  void aServerThatSpeaksNoTlsIsRefused() {
    try (Secured redis = Secured.start("server")) {
      String plain = "rediss://127.0.0.1:" + redis.server.port();
      try (LogLines log = new LogLines();
          StoreDriver store = open(trusting(plain))) {
        store.on(store.store()::start);
        Awaitility.await().until(() -> !log.with("no answer to the first call").isEmpty());
        assertThat(store.store().healthy()).isFalse();
        assertThat(redis.server.call("DBSIZE")).isEqualTo(0L);
      }
    }
  }

  @Test
  void sentinelsAndTheirMasterAreReachedOverTls() {
    try (Secured master = Secured.start("server");
        Secured sentinel = Secured.start("server", "--sentinel", "--tls-replication", "yes")) {
      sentinel.server.call(
          "SENTINEL", "MONITOR", "watched", "127.0.0.1", Integer.toString(master.port), "1");
      assertServes(trusting("rediss-sentinel://127.0.0.1:" + sentinel.port + "/watched"));
    }
  }

  @Test
  void aClusterIsReachedOverTls() {
    try (Secured node =
        Secured.start("server", "--cluster-enabled", "yes", "--tls-cluster", "yes")) {
      node.server.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      Awaitility.await()
          .until(() -> node.server.call("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
      assertServes(trusting("rediss-cluster://127.0.0.1:" + node.port));
    }
  }
}
