package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.redis.client.ProtocolVersion;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** Makes the store that a URL names. */
public final class Stores {
  private static final int CONNECT_TIMEOUT_MILLIS = 1000;

  private Stores() {}

  /**
   * A store, not yet started.
   *
   * @param prefix of all names in the store
   * @param accountingWindow over which authorized units are counted
   * @throws IllegalArgumentException if the prefix cannot be one, or there is no store for such a
   *     URL
   */
  public static Store open(
      StoreUrl url,
      String prefix,
      Duration accountingWindow,
      Vertx vertx,
      Clock clock,
      MeterRegistry registry) {
    StoreKeys keys = new StoreKeys(prefix);
    AccountingWindow window = AccountingWindow.of(accountingWindow);
    if (url instanceof StoreUrl.Standalone redis) {
      RefillScript script = new RefillScript(RefillScript.shipped(), window);
      return redis(redis, keys, script, vertx, clock, registry);
    }
    if (url instanceof StoreUrl.Embedded) {
      return new EmbeddedStore(window, clock);
    }
    throw new IllegalArgumentException(url + ": this kind of store is not supported");
  }

  static Store redis(
      StoreUrl.Standalone url,
      StoreKeys keys,
      RefillScript script,
      Vertx vertx,
      Clock clock,
      MeterRegistry registry) {
    RedisShard shard =
        new RedisShard(
            vertx,
            options(url.address(), url.tls(), url.credentials(), url.database()),
            url.address().toString(),
            script,
            clock,
            RandomGenerator.getDefault(),
            registry);
    return new RedisStore(keys, script, shard, clock);
  }

  private static RedisOptions options(
      StoreUrl.Address address,
      boolean tls,
      Optional<StoreUrl.Credentials> credentials,
      int database) {
    NetClientOptions net =
        new NetClientOptions()
            .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true)
            .setSsl(tls);
    if (tls) {
      net.setHostnameVerificationAlgorithm("HTTPS");
    }
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
                (tls ? "rediss://" : "redis://") + address + (database == 0 ? "" : "/" + database));
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
}
