package dev.weir.config;

import com.hazelcast.config.Config;
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
    network.getJoin().getTcpIpConfig().setMembers(settings.members());
    if (!WILDCARDS.contains(settings.host())) {
      // Unlike <interfaces>, this takes names as well as addresses.
      config.setProperty("hazelcast.local.localAddress", settings.host());
      network.setPublicAddress(settings.host() + ":" + settings.port());
    }
    return config;
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
