package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.weir.decision.AddressBlock;
import dev.weir.lease.StoreUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

  /** A good value of every setting, none of them its default, as path, variable, value. */
  private static final List<List<String>> ROWS =
      List.of(
          List.of("http.host", "WEIR_HTTP_HOST", "127.0.0.9"),
          List.of("http.port", "WEIR_HTTP_PORT", "9090"),
          List.of("http.token", "WEIR_HTTP_TOKEN", "s3cret"),
          List.of("http.tls.cert", "WEIR_HTTP_TLS_CERT", "/etc/weir/http.pem"),
          List.of("http.tls.key", "WEIR_HTTP_TLS_KEY", "/etc/weir/http.key"),
          List.of("http.tls.client_ca", "WEIR_HTTP_TLS_CLIENT_CA", "/etc/weir/callers.pem"),
          List.of("http.max_connections", "WEIR_HTTP_MAX_CONNECTIONS", "500"),
          List.of("http.client_timeout", "WEIR_HTTP_CLIENT_TIMEOUT", "10s"),
          List.of("admin.host", "WEIR_ADMIN_HOST", "::1"),
          List.of("admin.port", "WEIR_ADMIN_PORT", "0"),
          List.of("admin.token", "WEIR_ADMIN_TOKEN", "s3cret"),
          List.of("admin.tokens_file", "WEIR_ADMIN_TOKENS_FILE", "/etc/weir/tokens"),
          List.of("admin.tls.cert", "WEIR_ADMIN_TLS_CERT", "/etc/weir/admin.pem"),
          List.of("admin.tls.key", "WEIR_ADMIN_TLS_KEY", "/etc/weir/admin.key"),
          List.of("admin.tls.client_ca", "WEIR_ADMIN_TLS_CLIENT_CA", "/etc/weir/operators.pem"),
          List.of("grpc.port", "WEIR_GRPC_PORT", "9090"),
          List.of("store.url", "WEIR_STORE", "redis://127.0.0.1:6379"),
          List.of("store.timeout", "WEIR_STORE_TIMEOUT", "7ms"),
          List.of("store.prefix", "WEIR_STORE_PREFIX", "w2"),
          List.of("cluster.enabled", "WEIR_CLUSTER", "on"),
          List.of("cluster.name", "WEIR_CLUSTER_NAME", "blue"),
          List.of("cluster.host", "WEIR_CLUSTER_HOST", "10.0.0.1"),
          List.of("cluster.port", "WEIR_CLUSTER_PORT", "5800"),
          List.of("cluster.members", "WEIR_CLUSTER_MEMBERS", "a:5701,10.0.0.2:5702"),
          List.of("cluster.dns", "WEIR_CLUSTER_DNS", "weir-nodes.example"),
          List.of("plans", "WEIR_PLANS", "plans.yaml"),
          List.of("plans_authoritative", "WEIR_PLANS_AUTHORITATIVE", "on"),
          List.of("data_dir", "WEIR_DATA_DIR", "/var/lib/weir"),
          List.of("usage.max_disk", "WEIR_USAGE_MAX_DISK", "64MiB"),
          List.of("region", "WEIR_REGION", "eu-1"),
          List.of("region_peers", "WEIR_REGION_PEERS", "us=https://admin.us:8081,ap=http://ap"),
          List.of("region_token", "WEIR_REGION_TOKEN", "s3cret"),
          List.of("tolerance", "WEIR_TOLERANCE", "0.05"),
          List.of("accuracy_window", "WEIR_ACCURACY_WINDOW", "30s"),
          List.of("max_keys", "WEIR_MAX_KEYS", "5000"),
          List.of("trusted_proxies", "WEIR_TRUSTED_PROXIES", "10.0.0.0/8,fd00::/8"));

  static List<List<String>> rows() {
    return ROWS;
  }

  @Test
  void theTableHoldsTheDocumentedSettingsAndNoOther() {
    assertThat(SettingTable.ALL)
        .extracting(Setting::path, Setting::variable)
        .containsExactlyElementsOf(
            ROWS.stream().map(row -> tuple(row.get(0), row.get(1))).toList());
  }

  @Test
  void defaultsAreTheDocumentedOnes() {
    Settings settings = Settings.of(Map.of());

    assertThat(settings.http().host()).isEqualTo("0.0.0.0");
    assertThat(settings.http().port()).isEqualTo(8080);
    assertThat(settings.http().token()).isEmpty();
    assertThat(settings.admin().host()).isEqualTo("127.0.0.1");
    assertThat(settings.admin().port()).isEqualTo(8081);
    assertThat(settings.admin().token()).isEmpty();
    assertThat(settings.grpc().port()).isZero();
    assertThat(settings.store().url()).isEqualTo(new StoreUrl.Embedded());
    assertThat(settings.store().timeout()).isEqualTo(Duration.ofMillis(5));
    assertThat(settings.store().prefix()).isEqualTo("weir");
    assertThat(settings.cluster())
        .isEqualTo(
            new Settings.Cluster(false, "weir", "127.0.0.1", 5701, List.of(), Optional.empty()));
    assertThat(settings.plans()).isEmpty();
    assertThat(settings.dataDir()).isEqualTo(Path.of("./data"));
    assertThat(settings.usage().maxDisk()).isEqualTo(1L << 30);
    assertThat(settings.region().name()).isEqualTo("default");
    assertThat(settings.tolerance()).isEqualTo(0.01);
    assertThat(settings.accuracyWindow()).isEqualTo(Duration.ofSeconds(60));
    assertThat(settings.maxKeys()).isEqualTo(1_000_000);
    assertThat(settings.trustedProxies()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void everySettingIsReadFromItsVariableAndItsPathAlike(List<String> row) {
    Setting<?> setting = setting(row.get(0));
    SettingsReader byVariable = new SettingsReader();
    byVariable.addEnvironment(Map.of(row.get(1), row.get(2)));
    SettingsReader byPath = new SettingsReader();
    byPath.add(Map.of(row.get(0), new GivenSetting(row.get(2), "from here")));

    Object value = setting.parser().parse(row.get(2));

    assertThat(value).isNotEqualTo(setting.parser().parse(setting.fallback()));
    assertThat(byVariable.value(setting)).isEqualTo(value);
    assertThat(byPath.value(setting)).isEqualTo(value);
  }

  @Test
  void peersAreOtherRegionsAndNeedAToken() {
    assertThatThrownBy(
            () ->
                Settings.of(
                    Map.of("region", "eu", "region_peers", "us=http://a,us=http://b,eu=http://c")))
        .isInstanceOfSatisfying(
            SettingsRefusedException.class,
            refused ->
                assertThat(refused.errors())
                    .containsExactly(
                        "region_peers: must not be there without region_token (as given)",
                        "region_peers: must be other regions, each once, was 'us' (as given)",
                        "region_peers: must be other regions, each once, was 'eu' (as given)"));
  }

  @Test
  void everySettingReachesItsPlace() {
    Settings settings =
        Settings.of(
            Map.ofEntries(
                Map.entry("http.host", "127.0.0.9"),
                Map.entry("http.port", "9090"),
                Map.entry("http.token", "t1"),
                Map.entry("admin.host", "10.0.0.1"),
                Map.entry("admin.port", "9091"),
                Map.entry("admin.token", "t2"),
                Map.entry("store.url", "redis://127.0.0.1:6379"),
                Map.entry("store.timeout", "7ms"),
                Map.entry("store.prefix", "w2"),
                Map.entry("cluster.enabled", "true"),
                Map.entry("cluster.name", "blue"),
                Map.entry("cluster.host", "10.0.0.2"),
                Map.entry("cluster.port", "5800"),
                Map.entry("cluster.members", "a:5701, [::1]:5702"),
                Map.entry("plans", "plans.yaml"),
                Map.entry("data_dir", "/var/lib/weir"),
                Map.entry("usage.max_disk", "2TiB"),
                Map.entry("region", "eu-1"),
                Map.entry("region_peers", "us=https://admin.us:8081, ap=http://[::1]:8081/"),
                Map.entry("region_token", "t3"),
                Map.entry("tolerance", "0.05"),
                Map.entry("accuracy_window", "1m"),
                Map.entry("max_keys", "5000"),
                Map.entry("trusted_proxies", "10.0.0.0/8, fd00::/8")));

    assertThat(settings.http())
        .isEqualTo(
            new Settings.Http(
                "127.0.0.9",
                9090,
                Optional.of(new Secret("t1")),
                Optional.empty(),
                10_000,
                Duration.ofMinutes(1)));
    assertThat(settings.admin())
        .isEqualTo(
            new Settings.Admin(
                "10.0.0.1",
                9091,
                Optional.of(new Secret("t2")),
                Optional.empty(),
                Optional.empty()));
    assertThat(settings.store().url()).isInstanceOf(StoreUrl.Standalone.class);
    assertThat(settings.store().timeout()).isEqualTo(Duration.ofMillis(7));
    assertThat(settings.store().prefix()).isEqualTo("w2");
    assertThat(settings.cluster())
        .isEqualTo(
            new Settings.Cluster(
                true, "blue", "10.0.0.2", 5800, List.of("a:5701", "[::1]:5702"), Optional.empty()));
    assertThat(settings.plans()).contains(Path.of("plans.yaml"));
    assertThat(settings.dataDir()).isEqualTo(Path.of("/var/lib/weir"));
    assertThat(settings.usage().maxDisk()).isEqualTo(2L << 40);
    assertThat(settings.region().name()).isEqualTo("eu-1");
    assertThat(settings.region().peers())
        .extracting(RegionAddress::region, peer -> peer.controlPlane().getPort())
        .containsExactly(tuple("us", 8081), tuple("ap", 8081));
    assertThat(settings.region().token()).contains(new Secret("t3"));
    assertThat(settings.tolerance()).isEqualTo(0.05);
    assertThat(settings.accuracyWindow()).isEqualTo(Duration.ofMinutes(1));
    assertThat(settings.maxKeys()).isEqualTo(5000);
    assertThat(settings.trustedProxies())
        .containsExactly(AddressBlock.parse("10.0.0.0/8"), AddressBlock.parse("fd00::/8"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http.host | a b | must be a host name or an address",
        "http.port | abc | must be a whole number from 0 to 65535",
        "http.port | -1 | must be a whole number from 0 to 65535",
        "http.port | 65536 | must be a whole number from 0 to 65535",
        "http.port | 80.5 | must be a whole number from 0 to 65535",
        "store.timeout | 5 | must be a duration from 1ms to 10s such as 5ms or 1m",
        "store.timeout | 0ms | must be a duration from 1ms to 10s such as 5ms or 1m",
        "store.timeout | 11s | must be a duration from 1ms to 10s such as 5ms or 1m",
        "store.prefix | a{b} | must be 1 to 64 letters, digits, '_', '.' or '-'",
        "cluster.enabled | maybe | must be on or off",
        "cluster.port | 0 | must be a whole number from 1 to 65535",
        "cluster.members | a:1,b | must be host:port, several joined by commas",
        "cluster.members | a:70000 | must be host:port, several joined by commas",
        "usage.max_disk | 31MiB | must be a size such as 512MiB or 4GiB, 32MiB or more",
        "usage.max_disk | 1GB | must be a size such as 512MiB or 4GiB, 32MiB or more",
        "cluster.dns | a b | must be a host name or an address",
        "region | a b | must be 1 to 64 letters, digits, '_', '.' or '-'",
        "region_peers | us | must be regions and their control planes such as"
            + " us=https://admin.us:8081, joined by commas",
        "region_peers | us=ftp://us | must be regions and their control planes such as"
            + " us=https://admin.us:8081, joined by commas",
        "region_peers | us=http://us/path | must be regions and their control planes such as"
            + " us=https://admin.us:8081, joined by commas",
        "region_peers | us=http://user:pw@us | must be regions and their control planes such as"
            + " us=https://admin.us:8081, joined by commas",
        "region_peers | a b=http://us | must be 1 to 64 letters, digits, '_', '.' or '-'",
        "tolerance | 1.5 | must be a number above 0 and at most 1",
        "tolerance | NaN | must be a number above 0 and at most 1",
        "tolerance | 1% | must be a number above 0 and at most 1",
        "accuracy_window | 1ms | must be a duration from 1s to 1d such as 5ms or 1m",
        "max_keys | 0 | must be a whole number from 1 to 1000000000",
        "trusted_proxies | 10.0.0.0/33 | must be address blocks such as 10.0.0.0/8 or fd00::/8,"
            + " joined by commas",
        "trusted_proxies | proxy/8 | must be address blocks such as 10.0.0.0/8 or fd00::/8,"
            + " joined by commas",
      })
  void aWrongValueIsToldWithItsPathReasonAndOrigin(String path, String text, String reason) {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(Map.of(setting(path).variable(), text));

    assertThat(errorsOf(reader))
        .containsExactly(
            path + ": " + reason + ", was '" + text + "' (from " + setting(path).variable() + ")");
  }

  @ParameterizedTest
  @CsvSource({
    "http.token, s3 cret",
    "admin.token, s3 cret",
    "store.url, redis://user:s3 cret@host:port",
    "store.url, redis://user:s3cret",
    "store.url, redis://user:s3/cret",
    "store.url, redis-cluster://user:s3/cret",
    "store.url, rediss://user:s3?cret",
    "store.url, redis://s3cret@host",
    "store.url, redis://user:s3%zzcret@host",
    "store.url, s3 cret"
  })
  void aSecretIsNotShownWhenItIsWrong(String path, String text) {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(Map.of(setting(path).variable(), text));

    assertThat(errorsOf(reader))
        .singleElement()
        .asString()
        .startsWith(path + ": ")
        .endsWith(" (from " + setting(path).variable() + ")")
        .doesNotContain("cret");
  }

  @Test
  void aSecretIsNotShownByTheSettingsThatHoldIt() {
    Settings settings =
        Settings.of(
            Map.of(
                "http.token", "s3cret",
                "admin.token", "s3cret",
                "store.url", "redis://user:s3cret@127.0.0.1:6379"));

    assertThat(settings.toString()).doesNotContain("s3cret");
  }

  @Test
  void allErrorsAreToldAtOnce() {
    assertThat(errorsOf(Map.of("http.port", "x", "max_keys", "y", "no.such", "z")))
        .containsExactlyInAnyOrder(
            "http.port: must be a whole number from 0 to 65535, was 'x' (as given)",
            "max_keys: must be a whole number from 1 to 1000000000, was 'y' (as given)",
            "no.such: is not a setting (as given)");
  }

  @Test
  void aClusterNeedsASharedStore() {
    assertThat(errorsOf(Map.of("cluster.enabled", "on")))
        .singleElement()
        .asString()
        .startsWith("cluster.enabled: must be off with the embedded store");
  }

  @Test
  void aClusterIsFoundByANameOrByAListAndNotByBoth() {
    assertThat(Settings.of(Map.of("cluster.dns", "weir-nodes")).cluster().dns())
        .contains("weir-nodes");
    assertThat(errorsOf(Map.of("cluster.dns", "weir-nodes", "cluster.members", "a:5701")))
        .containsExactly("cluster.dns: must not be there beside cluster.members (as given)");
  }

  @Test
  void aClusterIsNotHeldAgainstAStoreThatCouldNotBeRead() {
    assertThat(errorsOf(Map.of("cluster.enabled", "on", "store.url", "radish://x")))
        .singleElement()
        .asString()
        .startsWith("store.url: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.org", "node-1"})
  void anAdminHostThatOthersReachNeedsAToken(String host) {
    assertThat(errorsOf(Map.of("admin.host", host)))
        .singleElement()
        .asString()
        .startsWith("admin.host: must be a loopback address as long as there is no admin.token");
    assertThat(Settings.of(Map.of("admin.host", host, "admin.token", "t")).admin().host())
        .isEqualTo(host);
    assertThat(Settings.of(Map.of("admin.host", host, "admin.tokens_file", "f")).admin().host())
        .isEqualTo(host);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
  void aLoopbackAdminHostNeedsNone(String host) {
    assertThat(Settings.of(Map.of("admin.host", host)).admin().host()).isEqualTo(host);
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis-cluster://a:1,b:2", "redis-sentinel://a:1/main"})
  void aStoreOfSeveralRedisNodesIsAccepted(String url) {
    assertThat(Settings.of(Map.of("store.url", url)).store().url()).hasToString(url);
  }

  @Test
  void thePlanesListenAtTwoPlaces() {
    assertThat(
            errorsOf(Map.of("http.host", "127.0.0.1", "http.port", "9000", "admin.port", "9000")))
        .containsExactly("admin.port: must be another than http.port (as given)");
    assertThat(errorsOf(Map.of("http.host", "127.0.0.1", "http.port", "8081", "admin.port", "x")))
        .singleElement()
        .asString()
        .startsWith("admin.port: must be a whole number");
    Settings any =
        Settings.of(Map.of("http.host", "127.0.0.1", "http.port", "0", "admin.port", "0"));
    assertThat(any.admin().port()).isZero();
  }

  @Test
  void aClientHasMoreTimeThanTheStore() {
    Map<String, String> same = Map.of("http.client_timeout", "2s", "store.timeout", "2s");
    Map<String, String> more = Map.of("http.client_timeout", "2s", "store.timeout", "1999ms");

    assertThat(errorsOf(same))
        .containsExactly("http.client_timeout: must be longer than store.timeout (as given)");
    assertThat(Settings.of(more).http().clientTimeout()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void theTokenOfRegionsIsNoOther() {
    assertThat(errorsOf(Map.of("region_token", "t", "admin.token", "t", "http.token", "t")))
        .containsExactly(
            "region_token: must be another than admin.token (as given)",
            "region_token: must be another than http.token (as given)");
  }

  @Test
  void grpcIsRefusedAsLongAsThereIsNone() {
    assertThat(errorsOf(Map.of("grpc.port", "9000")))
        .containsExactly(
            "grpc.port: must be 0, since gRPC is not supported yet, was 9000 (as given)");
  }

  @Test
  void anEmptyVariableCountsAsNone() {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(Map.of("WEIR_HTTP_PORT", "", "WEIR_PLANS", ""));

    assertThat(reader.settings().http().port()).isEqualTo(8080);
  }

  @ParameterizedTest
  @ValueSource(strings = {"WEIR_HTTP_TOKEN", "WEIR_ADMIN_TOKEN", "WEIR_STORE"})
  void anEmptyVariableDoesNotTakeALockOff(String variable) {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(Map.of(variable, ""));

    assertThat(errorsOf(reader))
        .singleElement()
        .asString()
        .endsWith(": must not be empty; leave it out for its default (from " + variable + ")");
  }

  @Test
  void anUnknownVariableIsAWarning() {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(
        Map.of("WEIR_SERVICE_HOST", "10.0.0.1", "WEIR_HOME", "/opt", "JAVA_OPTS", "", "PATH", ""));

    assertThat(reader.settings().http().port()).isEqualTo(8080);
    assertThat(reader.warnings()).containsExactly("WEIR_SERVICE_HOST is not a setting of Weir");
  }

  @Test
  void anErrorStaysOnOneLine() {
    assertThatThrownBy(() -> Settings.of(Map.of("region", "a\nb" + "c".repeat(1000))))
        .hasMessageContaining("was 'a\\u000ab")
        .message()
        .hasLineCount(1)
        .hasSizeLessThan(250);
  }

  private static Setting<?> setting(String path) {
    return SettingTable.ALL.stream().filter(s -> s.path().equals(path)).findFirst().orElseThrow();
  }

  private static List<String> errorsOf(Map<String, String> texts) {
    return catchThrowableOfType(SettingsRefusedException.class, () -> Settings.of(texts)).errors();
  }

  private static List<String> errorsOf(SettingsReader reader) {
    return catchThrowableOfType(SettingsRefusedException.class, reader::settings).errors();
  }
}
