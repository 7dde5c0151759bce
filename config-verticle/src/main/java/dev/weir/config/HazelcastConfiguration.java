package dev.weir.config;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.config.XmlConfigBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Set;

/**
 * What a node's Hazelcast is started with: {@code cluster.xml}, with the node's settings applied.
 */
public final class HazelcastConfiguration {

  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::", "[::]");

  private HazelcastConfiguration() {}

  /** Loads the configuration that ships with this module and applies {@code settings} to it. */
  public static Config load(ClusterSettings settings) {
    Config config = shipped();
    config.setClusterName(settings.name());
    NetworkConfig network = config.getNetworkConfig();
    network.setPort(settings.port());
    settings
        .dns()
        .ifPresentOrElse(
            dns -> joinByDns(network.getJoin(), dns, settings.port()),
            () -> network.getJoin().getTcpIpConfig().setMembers(settings.members()));
    if (!WILDCARDS.contains(settings.host())) {
      // Unlike <interfaces>, this takes names as well as addresses.
      config.setProperty("hazelcast.local.localAddress", settings.host());
      network.setPublicAddress(bracketed(settings.host()) + ":" + settings.port());
    }
    return config;
  }

  /**
   * What Hazelcast calls its discovery of Kubernetes looks a name up, and nothing more, if it is
   * given one: it takes no permission there, and serves wherever a name has all nodes' addresses.
   */
  private static void joinByDns(JoinConfig join, String dns, int port) {
    join.getTcpIpConfig().setEnabled(false);
    join.getKubernetesConfig()
        .setEnabled(true)
        .setProperty("service-dns", dns)
        .setProperty("service-port", Integer.toString(port));
  }

  /** A port behind an IPv6 address would be taken for a part of it. */
  private static String bracketed(String host) {
    return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  private static Config shipped() {
    // Beside this class, so that a cluster.xml of the application around it is not taken instead.
    try (InputStream in = HazelcastConfiguration.class.getResourceAsStream("cluster.xml")) {
      return new XmlConfigBuilder(in).build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
