package dev.weir.lease;

import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.ProtocolVersion;
import io.vertx.redis.client.RedisOptions;
import java.util.Optional;

/**
 * How to connect to any of the servers that make up a store.
 *
 * @param tls if it is spoken
 * @param credentials none if the servers ask for none
 * @param database 0 or more
 */
record RedisAccess(
    Optional<StoreUrl.Tls> tls, Optional<StoreUrl.Credentials> credentials, int database) {
  private static final int CONNECT_TIMEOUT_MILLIS = 1000;

  /** Options of a client that holds one connection to {@code address}. */
  RedisOptions to(StoreUrl.Address address) {
    NetClientOptions net =
        new NetClientOptions()
            .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true);
    tls.ifPresent(spoken -> secure(net, spoken));
    RedisOptions options =
        new RedisOptions()
            .setNetClientOptions(net)
            .setMaxPoolSize(1)
            .setMaxPoolWaiting(1)
            // The one connection is held until it is lost, never exchanged for its age.
            .setPoolRecycleTimeout(-1)
            .setPoolCleanerInterval(-1)
            .setPreferredProtocolVersion(ProtocolVersion.RESP2)
            .setConnectionString(
                (tls.isPresent() ? "rediss://" : "redis://")
                    + address
                    + (database == 0 ? "" : "/" + database));
    // Not in the connection string, which the client prints.
    credentials.ifPresent(
        c -> {
          if (!c.user().isEmpty()) {
            options.setUser(c.user());
          }
          options.setPassword(c.password());
        });
    return options;
  }

  private static void secure(NetClientOptions net, StoreUrl.Tls tls) {
    net.setSsl(true).setHostnameVerificationAlgorithm("HTTPS");
    tls.authorities()
        .ifPresent(file -> net.setTrustOptions(new PemTrustOptions().addCertPath(file.toString())));
    tls.identity()
        .ifPresent(
            identity ->
                net.setKeyCertOptions(
                    new PemKeyCertOptions()
                        .addCertPath(identity.certificate().toString())
                        .addKeyPath(identity.key().toString())));
  }
}
