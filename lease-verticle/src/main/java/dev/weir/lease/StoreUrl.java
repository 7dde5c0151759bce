package dev.weir.lease;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /**
   * That TLS is spoken, and what with. Servers prove who they are by a certificate for the host at
   * which they are reached. All files are PEM, and are read whenever a connection is made.
   *
   * @param authorities who may have signed that; none for those that the JVM trusts
   * @param identity how a node proves who it is; none if the servers do not ask
   */
  record Tls(Optional<Path> authorities, Optional<Identity> identity) {

    /** With what the JVM trusts. */
    static final Tls OF_JVM = new Tls(Optional.empty(), Optional.empty());

    /** A certificate, followed by those between it and its authority, and its private key. */
    record Identity(Path certificate, Path key) {}
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
   * @param tls if it is spoken
   * @param database 0 or more
   */
  record Standalone(
      Address address, Optional<Tls> tls, Optional<Credentials> credentials, int database)
      implements StoreUrl {
    @Override
    public String toString() {
      return scheme(tls) + "://" + at(credentials) + address + "/" + database;
    }
  }

  /**
   * A Redis Cluster.
   *
   * @param seeds some of its nodes, at least one
   * @param tls if all nodes speak it
   */
  record Cluster(List<Address> seeds, Optional<Tls> tls, Optional<Credentials> credentials)
      implements StoreUrl {
    public Cluster {
      seeds = List.copyOf(seeds);
    }

    @Override
    public String toString() {
      return scheme(tls) + "-cluster://" + at(credentials) + join(seeds);
    }
  }

  /**
   * A Redis whose place Sentinels know.
   *
   * @param sentinels at least one
   * @param master the name by which they know it
   * @param tls if the Redis and the Sentinels speak it
   * @param credentials of the Redis, not of the Sentinels
   */
  record Sentinel(
      List<Address> sentinels, String master, Optional<Tls> tls, Optional<Credentials> credentials)
      implements StoreUrl {
    public Sentinel {
      sentinels = List.copyOf(sentinels);
    }

    @Override
    public String toString() {
      return scheme(tls) + "-sentinel://" + at(credentials) + join(sentinels) + "/" + master;
    }
  }

  /**
   * Reads {@code embedded}, {@code redis://[user:pass@]host[:port][/db]}, {@code
   * redis-cluster://[user:pass@]h1:p1,h2:p2} or {@code
   * redis-sentinel://[user:pass@]h1:p1,h2:p2/master}. User and password may be percent-encoded.
   * {@code rediss} in place of {@code redis} is for TLS, and then {@code ?cacert=FILE} may follow,
   * and {@code &cert=FILE&key=FILE}, percent-encoded as well.
   *
   * @throws IllegalArgumentException with one line that says what is wrong, a file that cannot be
   *     read included. It shows no other part of the URL: where the sign before the host is
   *     missing, any may be the password.
   */
  static StoreUrl parse(String url) {
    if (url.equals("embedded")) {
      return new Embedded();
    }
    int scheme = url.indexOf("://");
    if (scheme < 0) {
      throw new IllegalArgumentException(
          "must be embedded, redis://host:port/db, redis-cluster://host:port,... or"
              + " redis-sentinel://host:port,.../master, with rediss for TLS");
    }
    String rest = url.substring(scheme + 3);
    // The last one: a password may hold the sign as well.
    int at = rest.lastIndexOf('@');
    Optional<Credentials> credentials =
        at < 0 ? Optional.empty() : Optional.of(credentials(rest.substring(0, at)));
    String place = rest.substring(at + 1);
    String kind = url.substring(0, scheme);
    Optional<Tls> tls = Optional.empty();
    if (kind.startsWith("rediss")) {
      int mark = place.indexOf('?');
      tls = Optional.of(mark < 0 ? Tls.OF_JVM : tls(place.substring(mark + 1)));
      place = mark < 0 ? place : place.substring(0, mark);
    }
    int slash = place.indexOf('/');
    String hosts = slash < 0 ? place : place.substring(0, slash);
    String path = slash < 0 ? "" : place.substring(slash + 1);
    return switch (kind) {
      case "redis", "rediss" -> standalone(hosts, tls, credentials, path);
      case "redis-cluster", "rediss-cluster" -> {
        if (!path.isEmpty()) {
          throw new IllegalArgumentException("a Redis Cluster has no database behind '/'");
        }
        yield new Cluster(addresses(hosts, REDIS_PORT), tls, credentials);
      }
      case "redis-sentinel", "rediss-sentinel" -> {
        if (path.isEmpty()) {
          throw new IllegalArgumentException("must end in '/' and the name of the master");
        }
        yield new Sentinel(addresses(hosts, SENTINEL_PORT), path, tls, credentials);
      }
      default ->
          throw new IllegalArgumentException(
              "unknown scheme '"
                  + kind
                  + "', must be redis, redis-cluster or redis-sentinel, with rediss for TLS");
    };
  }

  private static StoreUrl standalone(
      String host, Optional<Tls> tls, Optional<Credentials> credentials, String database) {
    if (!database.matches("[0-9]{0,5}")) {
      throw new IllegalArgumentException("behind '/' there may be the number of a database");
    }
    return new Standalone(
        address(host, REDIS_PORT),
        tls,
        credentials,
        database.isEmpty() ? 0 : Integer.parseInt(database));
  }

  private static Tls tls(String query) {
    Map<String, Path> files = new HashMap<>();
    for (String parameter : query.split("&", -1)) {
      int equals = parameter.indexOf('=');
      String name = equals < 0 ? parameter : parameter.substring(0, equals);
      if (!Set.of("cacert", "cert", "key").contains(name) || files.containsKey(name)) {
        throw new IllegalArgumentException(
            "behind '?' there may be cacert=FILE, cert=FILE and key=FILE, joined by '&'");
      }
      files.put(name, file(name, decode("file names", parameter.substring(equals + 1))));
    }
    if (files.containsKey("cert") != files.containsKey("key")) {
      throw new IllegalArgumentException("cert and key go together");
    }
    return new Tls(
        Optional.ofNullable(files.get("cacert")),
        Optional.ofNullable(files.get("cert"))
            .map(certificate -> new Tls.Identity(certificate, files.get("key"))));
  }

  private static Path file(String name, String text) {
    try {
      Path file = Path.of(text);
      if (Files.isRegularFile(file) && Files.isReadable(file)) {
        return file;
      }
    } catch (InvalidPathException e) {
      // Refused below, as is one that is not there.
    }
    throw new IllegalArgumentException(
        name + " must be a file that can be read, was '" + text + "'");
  }

  private static Credentials credentials(String userInfo) {
    int colon = userInfo.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("credentials must be user:password");
    }
    return new Credentials(
        decode("credentials", userInfo.substring(0, colon)),
        decode("credentials", userInfo.substring(colon + 1)));
  }

  private static String decode(String what, String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // Its message would tell a part of the password.
      throw new IllegalArgumentException(what + " are not percent-encoded correctly");
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
    throw new IllegalArgumentException(
        "must name hosts as host:port, behind user:password@ if any");
  }

  private static String scheme(Optional<Tls> tls) {
    return tls.isPresent() ? "rediss" : "redis";
  }

  private static String at(Optional<Credentials> credentials) {
    return credentials.map(c -> c + "@").orElse("");
  }

  private static String join(List<Address> addresses) {
    return addresses.stream().map(Address::toString).collect(Collectors.joining(","));
  }
}
