package dev.weir.node;

import dev.weir.lease.StoreUrl;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Settings from several sources, added from the weakest to the strongest. It collects every error
 * before it refuses any.
 */
final class SettingsReader {

  private static final String VARIABLE_PREFIX = "WEIR_";

  /** Variables of the launcher and of packages, which say nothing to the node. */
  private static final Set<String> FOREIGN_VARIABLES = Set.of("WEIR_HOME", "WEIR_VERSION");

  private final Map<String, GivenSetting> given = new HashMap<>();
  private final List<String> errors = new ArrayList<>();
  private final Set<Setting<?>> unreadable = new HashSet<>();
  private final List<String> warnings = new ArrayList<>();

  /** Settings by their paths; a path that is not a setting's is an error. */
  void add(Map<String, GivenSetting> settings) {
    settings.forEach(
        (path, setting) -> {
          if (SettingTable.isSetting(path)) {
            given.put(path, setting);
          } else {
            errors.add(Quoted.printable(path) + ": is not a setting (" + setting.origin() + ")");
          }
        });
  }

  /**
   * The environment. An empty variable counts as none, since that is what a template without a
   * value leaves behind; but not where it would take a lock off: an empty token or store is refused
   * later. An unknown variable is worth a warning only, since Kubernetes makes such names.
   */
  void addEnvironment(Map<String, String> environment) {
    Set<String> known = new HashSet<>(FOREIGN_VARIABLES);
    for (Setting<?> setting : SettingTable.ALL) {
      known.add(setting.variable());
      String text = environment.get(setting.variable());
      if (text != null && (setting.secret() || !text.isEmpty())) {
        given.put(setting.path(), new GivenSetting(text, "from " + setting.variable()));
      }
    }
    environment.keySet().stream()
        .filter(variable -> variable.startsWith(VARIABLE_PREFIX) && !known.contains(variable))
        .sorted()
        .forEach(
            variable -> warnings.add(Quoted.printable(variable) + " is not a setting of Weir"));
  }

  /** What is odd and yet no reason not to start, a line each. */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * The settings, defaults where nobody gave any.
   *
   * @throws SettingsRefusedException with every error of every source
   */
  Settings settings() {
    Settings settings =
        new Settings(
            new Settings.Http(
                value(SettingTable.HTTP_HOST),
                value(SettingTable.HTTP_PORT),
                value(SettingTable.HTTP_TOKEN),
                tls(
                    SettingTable.HTTP_TLS_CERT,
                    SettingTable.HTTP_TLS_KEY,
                    SettingTable.HTTP_TLS_CLIENT_CA),
                value(SettingTable.HTTP_MAX_CONNECTIONS),
                value(SettingTable.HTTP_CLIENT_TIMEOUT)),
            new Settings.Admin(
                value(SettingTable.ADMIN_HOST),
                value(SettingTable.ADMIN_PORT),
                value(SettingTable.ADMIN_TOKEN),
                value(SettingTable.ADMIN_TOKENS_FILE),
                tls(
                    SettingTable.ADMIN_TLS_CERT,
                    SettingTable.ADMIN_TLS_KEY,
                    SettingTable.ADMIN_TLS_CLIENT_CA)),
            new Settings.Grpc(value(SettingTable.GRPC_PORT)),
            new Settings.StoreSettings(
                value(SettingTable.STORE_URL),
                value(SettingTable.STORE_TIMEOUT),
                value(SettingTable.STORE_PREFIX)),
            new Settings.Cluster(
                value(SettingTable.CLUSTER_ENABLED),
                value(SettingTable.CLUSTER_NAME),
                value(SettingTable.CLUSTER_HOST),
                value(SettingTable.CLUSTER_PORT),
                value(SettingTable.CLUSTER_MEMBERS),
                value(SettingTable.CLUSTER_DNS)),
            value(SettingTable.PLANS),
            value(SettingTable.PLANS_AUTHORITATIVE),
            value(SettingTable.DATA_DIR),
            new Settings.UsageSettings(value(SettingTable.USAGE_MAX_DISK)),
            new Settings.Region(
                value(SettingTable.REGION),
                value(SettingTable.REGION_PEERS),
                value(SettingTable.REGION_TOKEN)),
            value(SettingTable.TOLERANCE),
            value(SettingTable.ACCURACY_WINDOW),
            value(SettingTable.MAX_KEYS),
            value(SettingTable.TRUSTED_PROXIES));
    checkTogether(settings);
    if (!errors.isEmpty()) {
      throw new SettingsRefusedException(errors);
    }
    return settings;
  }

  /** What {@code setting} is, its default where nobody gave it or what they gave is wrong. */
  <T> T value(Setting<T> setting) {
    GivenSetting found = given.get(setting.path());
    if (found != null) {
      try {
        if (found.text().isEmpty()) {
          throw new IllegalArgumentException("must not be empty; leave it out for its default");
        }
        return setting.parser().parse(found.text());
      } catch (IllegalArgumentException e) {
        unreadable.add(setting);
        String was = setting.secret() ? "" : ", was " + Quoted.of(found.text());
        errors.add(setting.path() + ": " + e.getMessage() + was + " (" + found.origin() + ")");
      }
    }
    return setting.parser().parse(setting.fallback());
  }

  private Optional<Settings.TlsFiles> tls(
      Setting<Optional<Path>> certificate,
      Setting<Optional<Path>> key,
      Setting<Optional<Path>> clientAuthorities) {
    Optional<Path> certificateFile = value(certificate);
    Optional<Path> keyFile = value(key);
    Optional<Path> authoritiesFile = value(clientAuthorities);
    if (certificateFile.isPresent() && keyFile.isPresent()) {
      return Optional.of(
          new Settings.TlsFiles(certificateFile.get(), keyFile.get(), authoritiesFile));
    }
    if (certificateFile.isPresent() && !unreadable.contains(key)) {
      refuse(certificate, "must not be there without " + key.path());
    }
    if (keyFile.isPresent() && !unreadable.contains(certificate)) {
      refuse(key, "must not be there without " + certificate.path());
    }
    if (authoritiesFile.isPresent() && certificateFile.isEmpty() && keyFile.isEmpty()) {
      refuse(
          clientAuthorities,
          "must not be there without " + certificate.path() + " and " + key.path());
    }
    return Optional.empty();
  }

  /** A setting that could not be read has its default here, and is not held against others. */
  private void checkTogether(Settings settings) {
    if (settings.cluster().enabled()
        && settings.store().url() instanceof StoreUrl.Embedded
        && !unreadable.contains(SettingTable.STORE_URL)) {
      refuse(
          SettingTable.CLUSTER_ENABLED,
          "must be off with the embedded store, whose limits no other node shares;"
              + " set store.url to a Redis");
    }
    if (settings.cluster().dns().isPresent() && !settings.cluster().members().isEmpty()) {
      refuse(SettingTable.CLUSTER_DNS, "must not be there beside cluster.members");
    }
    if (settings.admin().token().isEmpty()
        && settings.admin().tokensFile().isEmpty()
        && !isLoopback(settings.admin().host())
        && !unreadable.contains(SettingTable.ADMIN_TOKEN)
        && !unreadable.contains(SettingTable.ADMIN_TOKENS_FILE)) {
      refuse(
          SettingTable.ADMIN_HOST,
          "must be a loopback address as long as there is no admin.token or admin.tokens_file, was "
              + Quoted.of(settings.admin().host()));
    }
    checkPlanes(settings);
    checkPeers(settings.region());
    checkRegionToken(settings);
    if (settings.grpc().port() != 0) {
      refuse(
          SettingTable.GRPC_PORT,
          "must be 0, since gRPC is not supported yet, was " + settings.grpc().port());
    }
  }

  private void checkPlanes(Settings settings) {
    Settings.Http http = settings.http();
    Settings.Admin admin = settings.admin();
    if (http.port() == admin.port()
        && http.port() != 0
        && http.host().equals(admin.host())
        && areReadable(SettingTable.HTTP_PORT, SettingTable.ADMIN_PORT)
        && areReadable(SettingTable.HTTP_HOST, SettingTable.ADMIN_HOST)) {
      refuse(SettingTable.ADMIN_PORT, "must be another than http.port");
    }
    if (http.clientTimeout().compareTo(settings.store().timeout()) <= 0
        && areReadable(SettingTable.HTTP_CLIENT_TIMEOUT, SettingTable.STORE_TIMEOUT)) {
      // Or a client that only waits for its answer would be cut.
      refuse(SettingTable.HTTP_CLIENT_TIMEOUT, "must be longer than store.timeout");
    }
  }

  private boolean areReadable(Setting<?>... settings) {
    return Stream.of(settings).noneMatch(unreadable::contains);
  }

  /** It opens one call and no other, and no other token opens that. */
  private void checkRegionToken(Settings settings) {
    Optional<Secret> token = settings.region().token();
    if (token.isPresent() && token.equals(settings.admin().token())) {
      refuse(SettingTable.REGION_TOKEN, "must be another than admin.token");
    }
    if (token.isPresent() && token.equals(settings.http().token())) {
      refuse(SettingTable.REGION_TOKEN, "must be another than http.token");
    }
  }

  private void checkPeers(Settings.Region region) {
    if (region.peers().isEmpty()) {
      return;
    }
    if (region.token().isEmpty() && !unreadable.contains(SettingTable.REGION_TOKEN)) {
      refuse(SettingTable.REGION_PEERS, "must not be there without region_token");
    }
    Set<String> names = new HashSet<>(Set.of(region.name()));
    region.peers().stream()
        .map(RegionAddress::region)
        .filter(name -> !names.add(name))
        .forEach(
            name ->
                refuse(
                    SettingTable.REGION_PEERS,
                    "must be other regions, each once, was " + Quoted.of(name)));
  }

  private void refuse(Setting<?> setting, String reason) {
    GivenSetting found = given.get(setting.path());
    errors.add(setting.path() + ": " + reason + (found == null ? "" : " (" + found.origin() + ")"));
  }

  /** By its text alone: what a name resolves to may change after the node has started. */
  private static boolean isLoopback(String host) {
    return host.equals("localhost")
        || host.equals("::1")
        || host.matches("127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}");
  }
}
