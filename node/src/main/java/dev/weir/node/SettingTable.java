package dev.weir.node;

import static dev.weir.node.SettingParser.MAX_PORT;
import static dev.weir.node.SettingParser.duration;
import static dev.weir.node.SettingParser.list;
import static dev.weir.node.SettingParser.optional;
import static dev.weir.node.SettingParser.wholeNumber;

import dev.weir.decision.AddressBlock;
import dev.weir.lease.StoreUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Every setting of a node, one entry each. The file's keys, the environment's variables, the
 * command line's options and their help are all read off this table.
 */
final class SettingTable {

  private static final List<Setting<?>> TABLE = new ArrayList<>();

  static final Setting<String> HTTP_HOST =
      open(
          "http.host",
          "WEIR_HTTP_HOST",
          "0.0.0.0",
          SettingParser::host,
          "Address of the data plane");
  static final Setting<Integer> HTTP_PORT =
      open(
          "http.port",
          "WEIR_HTTP_PORT",
          "8080",
          wholeNumber(0, MAX_PORT),
          "Port of the data plane, 0 for any free one");
  static final Setting<Optional<Secret>> HTTP_TOKEN =
      secret(
          "http.token",
          "WEIR_HTTP_TOKEN",
          "",
          optional(SettingParser::token),
          "Bearer token asked of callers");
  static final Setting<Optional<Path>> HTTP_TLS_CERT =
      open(
          "http.tls.cert",
          "WEIR_HTTP_TLS_CERT",
          "",
          optional(SettingParser::path),
          "Certificate of the data plane, PEM");
  static final Setting<Optional<Path>> HTTP_TLS_KEY =
      open(
          "http.tls.key",
          "WEIR_HTTP_TLS_KEY",
          "",
          optional(SettingParser::path),
          "Its private key, PEM");
  static final Setting<Optional<Path>> HTTP_TLS_CLIENT_CA =
      open(
          "http.tls.client_ca",
          "WEIR_HTTP_TLS_CLIENT_CA",
          "",
          optional(SettingParser::path),
          "Who must have signed clients' certificates, PEM");

  static final Setting<Integer> HTTP_MAX_CONNECTIONS =
      open(
          "http.max_connections",
          "WEIR_HTTP_MAX_CONNECTIONS",
          "10000",
          wholeNumber(1, 1_000_000),
          "Connections to the data plane at once");
  static final Setting<Duration> HTTP_CLIENT_TIMEOUT =
      open(
          "http.client_timeout",
          "WEIR_HTTP_CLIENT_TIMEOUT",
          "60s",
          duration("1s", "1h"),
          "How long a client may take to its next request");

  static final Setting<String> ADMIN_HOST =
      open(
          "admin.host",
          "WEIR_ADMIN_HOST",
          "127.0.0.1",
          SettingParser::host,
          "Address of the control plane");
  static final Setting<Integer> ADMIN_PORT =
      open(
          "admin.port",
          "WEIR_ADMIN_PORT",
          "8081",
          wholeNumber(0, MAX_PORT),
          "Port of the control plane, 0 for any free one");
  static final Setting<Optional<Secret>> ADMIN_TOKEN =
      secret(
          "admin.token",
          "WEIR_ADMIN_TOKEN",
          "",
          optional(SettingParser::token),
          "Bearer token of the control plane");
  static final Setting<Optional<Path>> ADMIN_TOKENS_FILE =
      open(
          "admin.tokens_file",
          "WEIR_ADMIN_TOKENS_FILE",
          "",
          optional(SettingParser::path),
          "File with more of them, NAME: TOKEN a line");
  static final Setting<Optional<Path>> ADMIN_TLS_CERT =
      open(
          "admin.tls.cert",
          "WEIR_ADMIN_TLS_CERT",
          "",
          optional(SettingParser::path),
          "Certificate of the control plane, PEM");
  static final Setting<Optional<Path>> ADMIN_TLS_KEY =
      open(
          "admin.tls.key",
          "WEIR_ADMIN_TLS_KEY",
          "",
          optional(SettingParser::path),
          "Its private key, PEM");
  static final Setting<Optional<Path>> ADMIN_TLS_CLIENT_CA =
      open(
          "admin.tls.client_ca",
          "WEIR_ADMIN_TLS_CLIENT_CA",
          "",
          optional(SettingParser::path),
          "Who must have signed clients' certificates, PEM");

  static final Setting<Integer> GRPC_PORT =
      open("grpc.port", "WEIR_GRPC_PORT", "0", wholeNumber(0, MAX_PORT), "Port of gRPC, 0 for off");

  static final Setting<StoreUrl> STORE_URL =
      secret(
          "store.url",
          "WEIR_STORE",
          "embedded",
          SettingParser::storeUrl,
          "URL of the store, or embedded");
  static final Setting<Duration> STORE_TIMEOUT =
      open(
          "store.timeout",
          "WEIR_STORE_TIMEOUT",
          "5ms",
          duration("1ms", "10s"),
          "How long a caller waits for the store");
  static final Setting<String> STORE_PREFIX =
      open(
          "store.prefix",
          "WEIR_STORE_PREFIX",
          "weir",
          SettingParser::name,
          "Begins every name in the store");

  static final Setting<Boolean> CLUSTER_ENABLED =
      onOrOff("cluster.enabled", "WEIR_CLUSTER", "Whether to join other nodes, on or off");
  static final Setting<String> CLUSTER_NAME =
      open(
          "cluster.name",
          "WEIR_CLUSTER_NAME",
          "weir",
          SettingParser::name,
          "Name that all nodes of the cluster share");
  static final Setting<String> CLUSTER_HOST =
      open(
          "cluster.host",
          "WEIR_CLUSTER_HOST",
          "127.0.0.1",
          SettingParser::host,
          "Address that other nodes reach this one at");
  static final Setting<Integer> CLUSTER_PORT =
      open(
          "cluster.port",
          "WEIR_CLUSTER_PORT",
          "5701",
          wholeNumber(1, MAX_PORT),
          "Port that other nodes reach this one at");
  static final Setting<List<String>> CLUSTER_MEMBERS =
      open(
          "cluster.members",
          "WEIR_CLUSTER_MEMBERS",
          "",
          list(SettingParser::hostAndPort),
          "Nodes to join, host:port,...");
  static final Setting<Optional<String>> CLUSTER_DNS =
      open(
          "cluster.dns",
          "WEIR_CLUSTER_DNS",
          "",
          optional(SettingParser::host),
          "Name with the addresses of all nodes");

  static final Setting<Optional<Path>> PLANS =
      open(
          "plans",
          "WEIR_PLANS",
          "",
          optional(SettingParser::path),
          "Plans file, else built-in examples");
  static final Setting<Boolean> PLANS_AUTHORITATIVE =
      onOrOff(
          "plans_authoritative",
          "WEIR_PLANS_AUTHORITATIVE",
          "Whether the plans file replaces what is there, on or off");
  static final Setting<Path> DATA_DIR =
      open(
          "data_dir",
          "WEIR_DATA_DIR",
          "./data",
          SettingParser::path,
          "Directory of what outlives the node");
  static final Setting<Long> USAGE_MAX_DISK =
      open(
          "usage.max_disk",
          "WEIR_USAGE_MAX_DISK",
          "1GiB",
          SettingParser::bytes,
          "Disk that usage not yet reported may take");
  static final Setting<String> REGION =
      open("region", "WEIR_REGION", "default", SettingParser::name, "Region that the node runs in");
  static final Setting<List<RegionAddress>> REGION_PEERS =
      open(
          "region_peers",
          "WEIR_REGION_PEERS",
          "",
          list(RegionAddress::parse),
          "Control planes of the other regions, us=https://admin.us:8081,...");
  static final Setting<Optional<Secret>> REGION_TOKEN =
      secret(
          "region_token",
          "WEIR_REGION_TOKEN",
          "",
          optional(SettingParser::token),
          "Bearer token that regions show each other");
  static final Setting<Double> TOLERANCE =
      open(
          "tolerance",
          "WEIR_TOLERANCE",
          "0.01",
          SettingParser::share,
          "Part of a limit that all leases may hold");
  static final Setting<Duration> ACCURACY_WINDOW =
      open(
          "accuracy_window",
          "WEIR_ACCURACY_WINDOW",
          "60s",
          duration("1s", "1d"),
          "Time over which the tolerance is meant");
  static final Setting<Integer> MAX_KEYS =
      open(
          "max_keys",
          "WEIR_MAX_KEYS",
          "1000000",
          wholeNumber(1, 1_000_000_000),
          "Keys held in memory at once");
  static final Setting<List<AddressBlock>> TRUSTED_PROXIES =
      open(
          "trusted_proxies",
          "WEIR_TRUSTED_PROXIES",
          "",
          list(SettingParser::addressBlock),
          "Proxies whose X-Forwarded-For is believed, CIDR,...");

  /** In the order of the documentation. */
  static final List<Setting<?>> ALL = Collections.unmodifiableList(TABLE);

  private static final Set<String> PATHS =
      ALL.stream().map(Setting::path).collect(Collectors.toUnmodifiableSet());

  private static final Set<String> SECTIONS =
      PATHS.stream().flatMap(SettingTable::sectionsOf).collect(Collectors.toUnmodifiableSet());

  private SettingTable() {}

  /** Whether {@code path} is a setting's. */
  static boolean isSetting(String path) {
    return PATHS.contains(path);
  }

  /** Whether settings' paths begin with {@code path} and a dot. */
  static boolean isSection(String path) {
    return SECTIONS.contains(path);
  }

  private static Stream<String> sectionsOf(String path) {
    return IntStream.range(0, path.length())
        .filter(i -> path.charAt(i) == '.')
        .mapToObj(i -> path.substring(0, i));
  }

  private static <T> Setting<T> open(
      String path, String variable, String fallback, SettingParser<T> parser, String help) {
    return enter(new Setting<>(path, variable, fallback, false, "", parser, help));
  }

  private static Setting<Boolean> onOrOff(String path, String variable, String help) {
    return enter(new Setting<>(path, variable, "off", false, "on", SettingParser::onOrOff, help));
  }

  private static <T> Setting<T> secret(
      String path, String variable, String fallback, SettingParser<T> parser, String help) {
    return enter(new Setting<>(path, variable, fallback, true, "", parser, help));
  }

  private static <T> Setting<T> enter(Setting<T> setting) {
    TABLE.add(setting);
    return setting;
  }
}
