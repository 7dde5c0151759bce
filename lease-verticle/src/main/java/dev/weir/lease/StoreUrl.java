package dev.weir.lease;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which store, and where. No {@code toString} tells a password. */
public sealed interface StoreUrl {

  /** The port of a Redis that is given without one. */
  int REDIS_PORT = 6379;

  /** The port of a Sentinel that is given without one. */
  int SENTINEL_PORT = 26379;

  /**
   * Where a server listens.
   *
   * @param host name or address, an IPv6 one in brackets
   * @param port 1 to 65535
   */
  record Address(String host, int port) {
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * How a node proves who it is.
   *
   * @param user empty for Redis's default user
   * @param password in clear
   */
  record Credentials(String user, String password) {
    @Override
    public String toString() {
      return user + ":***";
    }
  }

  /** A store in this node's own memory. */
  record Embedded() implements StoreUrl {
    @Override
    public String toString() {
      return "embedded";
    }
  }

  /**
   * One Redis.
   *
   * @param tls whether to speak TLS
   * @param database 0 or more
   */
  record Standalone(Address address, boolean tls, Optional<Credentials> credentials, int database)
      implements StoreUrl {
    @Override
    public String toString() {
      return (tls ? "rediss://" : "redis://") + at(credentials) + address + "/" + database;
    }
  }

  /**
   * A Redis Cluster.
   *
   * @param seeds some of its nodes, at least one
   */
  record Cluster(List<Address> seeds, Optional<Credentials> credentials) implements StoreUrl {
    public Cluster {
      seeds = List.copyOf(seeds);
    }

    @Override
    public String toString() {
      return "redis-cluster://" + at(credentials) + join(seeds);
    }
  }

  /**
   * A Redis whose place Sentinels know.
   *
   * @param sentinels at least one
   * @param master the name by which they know it
   * @param credentials of the Redis, not of the Sentinels
   */
  record Sentinel(List<Address> sentinels, String master, Optional<Credentials> credentials)
      implements StoreUrl {
    public Sentinel {
      sentinels = List.copyOf(sentinels);
    }

    @Override
    public String toString() {
      return "redis-sentinel://" + at(credentials) + join(sentinels) + "/" + master;
    }
  }

  /**
   * Reads {@code embedded}, {@code redis://[user:pass@]host[:port][/db]}, {@code rediss://...},
   * {@code redis-cluster://[user:pass@]h1:p1,h2:p2} or {@code
   * redis-sentinel://[user:pass@]h1:p1,h2:p2/master}. User and password may be percent-encoded.
   *
   * @throws IllegalArgumentException with one line that says what is wrong
   */
  static StoreUrl parse(String url) {
    if (url.equals("embedded")) {
      return new Embedded();
    }
    int scheme = url.indexOf("://");
    if (scheme < 0) {
      throw new IllegalArgumentException(
          "must be embedded, redis://host:port/db, rediss://host:port/db,"
              + " redis-cluster://host:port,... or redis-sentinel://host:port,.../master");
    }
    String rest = url.substring(scheme + 3);
    // The last one: a password may hold the sign as well.
    int at = rest.lastIndexOf('@');
    Optional<Credentials> credentials =
        at < 0 ? Optional.empty() : Optional.of(credentials(rest.substring(0, at)));
    String place = rest.substring(at + 1);
    int slash = place.indexOf('/');
    String hosts = slash < 0 ? place : place.substring(0, slash);
    String path = slash < 0 ? "" : place.substring(slash + 1);
    return switch (url.substring(0, scheme)) {
      case "redis" -> standalone(hosts, false, credentials, path);
      case "rediss" -> standalone(hosts, true, credentials, path);
      case "redis-cluster" -> {
        if (!path.isEmpty()) {
          throw new IllegalArgumentException(
              "a Redis Cluster has no database, was '/" + path + "'");
        }
        yield new Cluster(addresses(hosts, REDIS_PORT), credentials);
      }
      case "redis-sentinel" -> {
        if (path.isEmpty()) {
          throw new IllegalArgumentException("must end in '/' and the name of the master");
        }
        yield new Sentinel(addresses(hosts, SENTINEL_PORT), path, credentials);
      }
      default ->
          throw new IllegalArgumentException(
              "unknown scheme '"
                  + url.substring(0, scheme)
                  + "', must be redis, rediss, redis-cluster or redis-sentinel");
    };
  }

  private static StoreUrl standalone(
      String host, boolean tls, Optional<Credentials> credentials, String database) {
    if (!database.matches("[0-9]{0,5}")) {
      throw new IllegalArgumentException("database must be a number, was '" + database + "'");
    }
    return new Standalone(
        address(host, REDIS_PORT),
        tls,
        credentials,
        database.isEmpty() ? 0 : Integer.parseInt(database));
  }

  private static Credentials credentials(String userInfo) {
    int colon = userInfo.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("credentials must be user:password");
    }
    return new Credentials(
        decode(userInfo.substring(0, colon)), decode(userInfo.substring(colon + 1)));
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // Its message would tell a part of the password.
      throw new IllegalArgumentException("credentials are not percent-encoded correctly");
    }
  }

  private static List<Address> addresses(String hosts, int defaultPort) {
    return Stream.of(hosts.split(",", -1)).map(host -> address(host, defaultPort)).toList();
  }

  private static Address address(String hostAndPort, int defaultPort) {
    try {
      URI uri = new URI("redis://" + hostAndPort);
      int port = uri.getPort() == -1 ? defaultPort : uri.getPort();
      boolean plain = uri.getRawPath().isEmpty() && uri.getRawQuery() == null;
      if (uri.getHost() != null && plain && port >= 1 && port <= 65535) {
        return new Address(uri.getHost(), port);
      }
    } catch (URISyntaxException e) {
      // Refused below, as is what parses and yet has no host.
    }
    throw new IllegalArgumentException("must name hosts as host:port, was '" + hostAndPort + "'");
  }

  private static String at(Optional<Credentials> credentials) {
    return credentials.map(c -> c + "@").orElse("");
  }

  private static String join(List<Address> addresses) {
    return addresses.stream().map(Address::toString).collect(Collectors.joining(","));
  }
}
