package dev.weir.config;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a node finds its cluster.
 *
 * @param name of the cluster; nodes of another name are not joined
 * @param host that this node listens on and is reached at by the others; a wildcard ({@code
 *     0.0.0.0}) lets Hazelcast choose the interface that fits the members
 * @param port that it listens on, 1 to 65535
 * @param members to join, {@code host:port}, or {@code host} for port {@value #DEFAULT_PORT}; this
 *     node may be among them; one without members waits to be joined
 * @param dns a name that resolves to the addresses of all nodes, each of which listens on {@code
 *     port}; asked whenever others are looked for, and instead of {@code members}
 */
public record ClusterSettings(
    String name, String host, int port, List<String> members, Optional<String> dns) {

  /** Where a member listens that was given without a port. */
  public static final int DEFAULT_PORT = 5701;

  /** A name or an IPv4 address, or an IPv6 address in brackets; and a port, perhaps. */
  private static final Pattern MEMBER =
      Pattern.compile("([A-Za-z0-9_.-]+|\\[[0-9A-Fa-f:.%]+])(?::([0-9]{1,5}))?");

  /**
   * @throws IllegalArgumentException if one of them cannot be, in one line that begins with the
   *     name of the setting
   */
  public ClusterSettings {
    if (name.isBlank()) {
      throw new IllegalArgumentException("cluster.name: must not be empty");
    }
    if (host.isBlank()) {
      throw new IllegalArgumentException("cluster.host: must not be empty");
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("cluster.port: must be from 1 to 65535, was " + port);
    }
    if (dns.filter(String::isBlank).isPresent()) {
      throw new IllegalArgumentException("cluster.dns: must not be empty");
    }
    if (dns.isPresent() && !members.isEmpty()) {
      throw new IllegalArgumentException("cluster.dns: must not be there beside cluster.members");
    }
    members = members.stream().map(String::strip).map(ClusterSettings::withPort).toList();
  }

  /** Of a node that finds the others by a list of {@code members}. */
  public ClusterSettings(String name, String host, int port, List<String> members) {
    this(name, host, port, members, Optional.empty());
  }

  private static String withPort(String member) {
    Matcher matcher = MEMBER.matcher(member);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "cluster.members: must be host or host:port, was " + Errors.shown(member));
    }
    int port = matcher.group(2) == null ? DEFAULT_PORT : Integer.parseInt(matcher.group(2));
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException(
          "cluster.members: the port must be from 1 to 65535, was " + Errors.shown(member));
    }
    return matcher.group(1) + ":" + port;
  }
}
