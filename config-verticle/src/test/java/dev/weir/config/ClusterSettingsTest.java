package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MultiMapConfig.ValueCollectionType;
import com.hazelcast.config.NetworkConfig;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterSettingsTest {

  @Test
  void aMemberWithoutAPortListensOnTheDefaultPort() {
    ClusterSettings settings =
        new ClusterSettings(
            "weir", "127.0.0.1", 5701, List.of("node-1", " 10.0.0.2:6000", "[::1]"));
    assertThat(settings.members()).containsExactly("node-1:5701", "10.0.0.2:6000", "[::1]:5701");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a:b", "a:0", "a:65536", "a:1:2", ":5701", "a b", "redis://a", "::1"})
  void aBadMemberIsRefusedInOneLine(String member) {
    assertThatThrownBy(() -> new ClusterSettings("weir", "127.0.0.1", 5701, List.of(member)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("cluster.members: ")
        .hasMessageContaining("'" + member + "'");
  }

  @Test
  void nameHostAndPortAreChecked() {
    assertThatThrownBy(() -> new ClusterSettings(" ", "h", 1, List.of()))
        .hasMessageStartingWith("cluster.name: ");
    assertThatThrownBy(() -> new ClusterSettings("n", "", 1, List.of()))
        .hasMessageStartingWith("cluster.host: ");
    assertThatThrownBy(() -> new ClusterSettings("n", "h", 0, List.of()))
        .hasMessageStartingWith("cluster.port: ");
  }

  @Test
  void whatANodeLoadsIsClusterXmlWithItsSettings() {
    Config config =
        HazelcastConfiguration.load(
            new ClusterSettings("blue", "127.0.0.1", 6001, List.of("10.0.0.2", "10.0.0.3:7000")));

    NetworkConfig network = config.getNetworkConfig();
    JoinConfig join = network.getJoin();
    assertThat(config.getClusterName()).isEqualTo("blue");
    assertThat(network.getPort()).isEqualTo(6001);
    assertThat(network.isPortAutoIncrement()).isFalse();
    assertThat(network.getPublicAddress()).isEqualTo("127.0.0.1:6001");
    assertThat(join.getTcpIpConfig().isEnabled()).isTrue();
    assertThat(join.getTcpIpConfig().getMembers())
        .containsExactly("10.0.0.2:5701", "10.0.0.3:7000");
    assertThat(join.getMulticastConfig().isEnabled()).isFalse();
    assertThat(join.getAutoDetectionConfig().isEnabled()).isFalse();
    assertThat(config.getProperty("hazelcast.phone.home.enabled")).isEqualTo("false");
    assertThat(config.getProperty("hazelcast.logging.type")).isEqualTo("slf4j");
    assertThat(config.getCPSubsystemConfig().getCPMemberCount()).isZero();
    assertThat(config.getMultiMapConfig("__vertx.subs").getValueCollectionType())
        .isEqualTo(ValueCollectionType.SET);
    assertThat(config.getMapConfig("__vertx.nodeInfo").getBackupCount()).isEqualTo(1);
    assertThat(config.getMapConfig("weir.config").getTotalBackupCount()).isEqualTo(6);
  }

  @Test
  void aNodeThatIsGivenANameAsksDnsForTheOthersAndNoList() {
    Config config =
        HazelcastConfiguration.load(
            new ClusterSettings("blue", "10.0.0.2", 6001, List.of(), Optional.of("weir-nodes")));

    JoinConfig join = config.getNetworkConfig().getJoin();
    // Throws if there is more than one way to join.
    join.verify();
    assertThat(join.getTcpIpConfig().isEnabled()).isFalse();
    assertThat(join.getKubernetesConfig().isEnabled()).isTrue();
    assertThat(join.getKubernetesConfig().getProperties())
        .containsOnly(entry("service-dns", "weir-nodes"), entry("service-port", "6001"));
  }

  @Test
  void aNameIsRefusedWhenItIsEmptyOrBesideAList() {
    assertThatThrownBy(
            () -> new ClusterSettings("n", "h", 1, List.of("a:1"), Optional.of("weir-nodes")))
        .hasMessageStartingWith("cluster.dns: ");
    assertThatThrownBy(() -> new ClusterSettings("n", "h", 1, List.of(), Optional.of(" ")))
        .hasMessageStartingWith("cluster.dns: ");
  }

  @Test
  void anIpv6AddressIsToldApartFromItsPort() {
    Config config =
        HazelcastConfiguration.load(new ClusterSettings("blue", "fd00::1", 6001, List.of()));
    assertThat(config.getNetworkConfig().getPublicAddress()).isEqualTo("[fd00::1]:6001");
  }

  @Test
  void aWildcardHostLeavesTheInterfaceToHazelcast() {
    Config config =
        HazelcastConfiguration.load(new ClusterSettings("blue", "0.0.0.0", 6001, List.of()));
    assertThat(config.getNetworkConfig().getPublicAddress()).isNull();
    assertThat(config.getProperty("hazelcast.local.localAddress")).isNull();
  }
}
