package dev.weir.node;

import dev.weir.decision.AddressBlock;
import dev.weir.lease.StoreUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a node is told at its start. Immutable.
 *
 * @param http the data plane
 * @param admin the control plane
 * @param grpc the gRPC endpoint
 * @param store the counters
 * @param cluster the other nodes
 * @param plans file of plans at start; empty for the built-in example
 * @param plansAuthoritative whether that file replaces what is there, instead of adding to it
 * @param dataDir where the node keeps what must outlive it
 * @param usage the journal of usage in it
 * @param region where the node runs, and the others
 * @param tolerance share of a limit that leases of all nodes may hold together, 0 to 1
 * @param accuracyWindow time over which {@code tolerance} is meant
 * @param maxKeys most keys held locally at once
 * @param trustedProxies address blocks (CIDR) whose X-Forwarded-For is believed
 */
public record Settings(
    Http http,
    Admin admin,
    Grpc grpc,
    StoreSettings store,
    Cluster cluster,
    Optional<Path> plans,
    boolean plansAuthoritative,
    Path dataDir,
    UsageSettings usage,
    Region region,
    double tolerance,
    Duration accuracyWindow,
    int maxKeys,
    List<AddressBlock> trustedProxies) {

  /**
   * The data plane.
   *
   * @param host address to listen on
   * @param port to listen on, 0 for any free one
   * @param token that callers must bring; empty to ask none
   * @param tls that it speaks; empty for HTTP in clear
   * @param maxConnections of clients at once
   * @param clientTimeout that a client has from one request to the next
   */
  public record Http(
      String host,
      int port,
      Optional<Secret> token,
      Optional<TlsFiles> tls,
      int maxConnections,
      Duration clientTimeout) {}

  /**
   * The control plane.
   *
   * @param host address to listen on
   * @param port to listen on, 0 for any free one
   * @param token that callers may bring
   * @param tokensFile more of them, and whose they are; without this and {@code token} none is
   *     asked for, on a loopback host only
   * @param tls that it speaks; empty for HTTP in clear
   */
  public record Admin(
      String host,
      int port,
      Optional<Secret> token,
      Optional<Path> tokensFile,
      Optional<TlsFiles> tls) {}

  /**
   * What TLS takes, all in PEM.
   *
   * @param certificate of the endpoint, followed by those between it and its authority
   * @param key of it, without a password
   * @param clientAuthorities who must have signed the certificates of clients; empty to ask for
   *     none
   */
  public record TlsFiles(Path certificate, Path key, Optional<Path> clientAuthorities) {}

  /**
   * The gRPC endpoint.
   *
   * @param port to listen on, 0 for no such endpoint
   */
  public record Grpc(int port) {}

  /**
   * The counters.
   *
   * @param url where they are
   * @param timeout after which a call has failed, from the moment it is wanted
   * @param prefix of every name in the store
   */
  public record StoreSettings(StoreUrl url, Duration timeout, String prefix) {}

  /**
   * The journal of usage.
   *
   * @param maxDisk bytes that it takes at most
   */
  public record UsageSettings(long maxDisk) {}

  /**
   * The other nodes.
   *
   * @param enabled whether there are any
   * @param name that all nodes of the cluster share
   * @param host address of this node for the others
   * @param port of this node for the others
   * @param members {@code host:port} of nodes to join
   * @param dns a name that resolves to the addresses of all nodes, instead of {@code members}
   */
  public record Cluster(
      boolean enabled,
      String name,
      String host,
      int port,
      List<String> members,
      Optional<String> dns) {}

  /**
   * Where the node runs, and what it shares limits with elsewhere.
   *
   * @param name of the region
   * @param peers the other regions, each once
   * @param token that regions show each other; empty to answer none of them
   */
  public record Region(String name, List<RegionAddress> peers, Optional<Secret> token) {}

  /**
   * The settings of {@code texts} by their paths in the settings file, such as {@code http.port},
   * written as they would be there; defaults for all others. For an application that brings its own
   * configuration.
   *
   * @throws SettingsRefusedException if a name is unknown or a value wrong
   */
  public static Settings of(Map<String, String> texts) {
    SettingsReader reader = new SettingsReader();
    Map<String, GivenSetting> given = new HashMap<>();
    texts.forEach((path, text) -> given.put(path, new GivenSetting(text, "as given")));
    reader.add(given);
    return reader.settings();
  }
}
