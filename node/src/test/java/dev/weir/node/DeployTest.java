package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.PlansFile;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the files of {@code deploy/} say of a node is true, and agrees from one to the other. */
final class DeployTest {

  private static final Duration STOP = Duration.ofSeconds(NodeProcess.STOP_SECONDS);
  private static final Set<String> OPEN_PATHS = Set.of("/health/live", "/health/ready");

  private static final JsonObject POD = DeployFiles.pod();
  private static final JsonObject CONTAINER = DeployFiles.container();
  private static final Settings IN_POD =
      settings(inImage(DeployFiles.podEnvironment("10.1.2.3", "redis://redis:6379")));
  private static final JsonObject COMPOSE = DeployFiles.document("compose.yaml");

  @TempDir Path directory;

  // The image.

  @Test
  void imageRunsTheLauncherAsAUserThatIsANumberAndNotRoot() {
    assertThat(instruction("ENTRYPOINT")).isEqualTo("[\"/opt/weir/weir\"]");
    assertThat(instruction("CMD")).isEqualTo("[\"start\"]");
    assertThat(instruction("USER")).matches("[1-9][0-9]*:[1-9][0-9]*");
  }

  @Test
  void imageExposesThePortsOfANodeAndItsHealthIsThatOfTheControlPlane() {
    Settings settings = settings(imageEnvironment());
    assertThat(instruction("EXPOSE"))
        .isEqualTo(
            "%d %d %d"
                .formatted(
                    settings.http().port(), settings.admin().port(), settings.cluster().port()));
    assertThat(DeployFiles.text("Dockerfile"))
        .contains(
            "http://127.0.0.1:${WEIR_ADMIN_PORT:-%d}/health/ready"
                .formatted(settings.admin().port()));
  }

  @Test
  void imageKeepsWhatIsCountedInItsVolume() {
    assertThat(settings(imageEnvironment()).dataDir()).hasToString(instruction("VOLUME"));
  }

  // Compose.

  @Test
  void nodesOfComposeAreACluster() {
    Map<String, JsonObject> nodes = composeNodes();
    assertThat(nodes).hasSize(3);
    nodes.forEach(
        (name, service) -> {
          Settings settings = settings(inImage(DeployFiles.composeEnvironment(service)));
          assertThat(settings.cluster().enabled()).isTrue();
          assertThat(settings.cluster().host()).isEqualTo(name);
          assertThat(settings.cluster().dns()).isPresent();
          assertThat(
                  DeployFiles.texts(
                      service
                          .getJsonObject("networks")
                          .getJsonObject("default")
                          .getJsonArray("aliases")))
              .contains(settings.cluster().dns().orElseThrow());
        });
  }

  @Test
  void nodesOfComposeHaveAVolumeEachAndWriteNowhereElse() {
    Set<String> volumes = new HashSet<>();
    composeNodes()
        .values()
        .forEach(
            service -> {
              assertThat(service.getBoolean("read_only")).isTrue();
              assertThat(service.getJsonArray("cap_drop")).containsExactly("ALL");
              String volume = service.getJsonArray("volumes").getString(0);
              assertThat(volume).endsWith(":" + instruction("VOLUME"));
              volumes.add(volume);
            });
    assertThat(volumes).hasSize(composeNodes().size());
    assertThat(COMPOSE.getJsonObject("volumes").fieldNames())
        .containsAll(volumes.stream().map(volume -> volume.split(":", 2)[0]).toList());
  }

  @Test
  void nodesOfComposeHaveTheTimeToStop() {
    composeNodes()
        .values()
        .forEach(
            service ->
                assertThat(Duration.parse("PT" + service.getString("stop_grace_period")))
                    .isGreaterThan(STOP));
  }

  @Test
  void gatewayOfComposeIsAShippedOneThatAsksEveryNodeAndIsBelieved() throws IOException {
    JsonObject gateway = COMPOSE.getJsonObject("services").getJsonObject("gateway");
    String mounted = gateway.getJsonArray("volumes").getString(0).split(":", 2)[0];
    assertThat(DeployFiles.DIRECTORY.resolve(mounted).normalize())
        .isEqualTo(DeployFiles.DIRECTORY.resolve("gateways/Caddyfile"));
    Map<String, String> environment = DeployFiles.composeEnvironment(gateway);
    assertThat(environment.get("NODES").split(" ")).containsExactlyInAnyOrder(nodesAt(8080));
    assertThat(environment.keySet())
        .isEqualTo(found(DeployFiles.DIRECTORY.resolve("gateways/Caddyfile"), "\\{\\$(\\w+):"));
    String address =
        gateway.getJsonObject("networks").getJsonObject("default").getString("ipv4_address");
    composeNodes()
        .values()
        .forEach(
            node ->
                assertThat(DeployFiles.composeEnvironment(node))
                    .containsEntry("WEIR_TRUSTED_PROXIES", address + "/32"));
  }

  @Test
  void whatComposeMountsIsThere() {
    COMPOSE
        .getJsonObject("services")
        .forEach(
            entry -> {
              JsonObject service = (JsonObject) entry.getValue();
              DeployFiles.texts(service.getJsonArray("volumes", new JsonArray())).stream()
                  .filter(volume -> volume.startsWith("./"))
                  .map(volume -> DeployFiles.DIRECTORY.resolve(volume.split(":", 2)[0]))
                  .forEach(file -> assertThat(file).exists());
            });
  }

  // Kubernetes.

  @Test
  void podJoinsByTheNameOfTheServiceThatHasTheAddressesOfAll() {
    JsonObject nodes = service("weir-nodes");
    assertThat(IN_POD.cluster().enabled()).isTrue();
    assertThat(IN_POD.cluster().host()).isEqualTo("10.1.2.3");
    assertThat(IN_POD.cluster().dns()).contains("weir-nodes");
    assertThat(statefulSet().getString("serviceName")).isEqualTo("weir-nodes");
    assertThat(nodes.getString("clusterIP")).isEqualTo("None");
    assertThat(nodes.getBoolean("publishNotReadyAddresses")).isTrue();
  }

  @Test
  void portsOfThePodAreThoseOfTheNode() {
    assertThat(containerPorts())
        .isEqualTo(
            Map.of(
                "http", IN_POD.http().port(),
                "admin", IN_POD.admin().port(),
                "cluster", IN_POD.cluster().port()));
    Stream.of("weir", "weir-nodes")
        .flatMap(name -> DeployFiles.objects(service(name).getJsonArray("ports")))
        .forEach(port -> assertThat(containerPorts()).containsKey(port.getString("targetPort")));
    // No proxy stands between: what a headless service names is the pod's own port.
    DeployFiles.objects(service("weir-nodes").getJsonArray("ports"))
        .forEach(
            port ->
                assertThat(port.getInteger("port"))
                    .isEqualTo(containerPorts().get(port.getString("targetPort"))));
  }

  @Test
  void probesAskWhatTheControlPlaneAnswersWithoutAToken() {
    for (String name : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      JsonObject call = CONTAINER.getJsonObject(name).getJsonObject("httpGet");
      assertThat(call.getString("port")).isEqualTo("admin");
      assertThat(call.getString("path")).isIn(OPEN_PATHS);
    }
    assertThat(
            ApiDocument.load().controlPlane().operations().stream()
                .filter(operation -> operation.getSecurityRequirements().isEmpty())
                .map(operation -> operation.getOpenAPIPath()))
        .containsAll(OPEN_PATHS);
  }

  @Test
  void podHasTheTimeToStop() {
    String sleep =
        CONTAINER
            .getJsonObject("lifecycle")
            .getJsonObject("preStop")
            .getJsonObject("exec")
            .getJsonArray("command")
            .getString(1);
    assertThat(Duration.ofSeconds(POD.getInteger("terminationGracePeriodSeconds")))
        .isGreaterThan(STOP.plusSeconds(Integer.parseInt(sleep)));
  }

  @Test
  void podIsTheUserOfTheImageAndWritesToItsVolumeOnly() {
    JsonObject user = POD.getJsonObject("securityContext");
    assertThat(user.getInteger("runAsUser") + ":" + user.getInteger("runAsGroup"))
        .isEqualTo(instruction("USER"));
    assertThat(user.getBoolean("runAsNonRoot")).isTrue();
    assertThat(user.getInteger("fsGroup")).isEqualTo(user.getInteger("runAsGroup"));
    assertThat(CONTAINER.getJsonObject("securityContext").getBoolean("readOnlyRootFilesystem"))
        .isTrue();
    Map<String, String> mounts =
        DeployFiles.objects(CONTAINER.getJsonArray("volumeMounts"))
            .collect(
                Collectors.toMap(
                    mount -> mount.getString("name"), mount -> mount.getString("mountPath")));
    assertThat(mounts).containsEntry("data", IN_POD.dataDir().toString());
    assertThat(IN_POD.plans()).contains(Path.of(mounts.get("plans"), "plans.yaml"));
    JsonObject claim = statefulSet().getJsonArray("volumeClaimTemplates").getJsonObject(0);
    assertThat(claim.getJsonObject("metadata").getString("name")).isEqualTo("data");
    String room =
        claim
            .getJsonObject("spec")
            .getJsonObject("resources")
            .getJsonObject("requests")
            .getString("storage");
    assertThat(Long.parseLong(room.replace("Gi", "")) << 30)
        .isGreaterThan(IN_POD.usage().maxDisk());
  }

  @Test
  void noServiceOfKubernetesCanChangeASetting() {
    assertThat(POD.getBoolean("enableServiceLinks")).isFalse();
  }

  @Test
  void jvmInThePodHasTheFlagsOfTheImageAndMore() {
    assertThat(DeployFiles.podEnvironment("10.1.2.3", "embedded").get("JAVA_OPTS"))
        .startsWith(imageEnvironment().get("JAVA_OPTS"));
  }

  @Test
  void kustomizationNamesEveryFileAndEverySelectorMeansThePod() throws IOException {
    JsonObject kustomization = DeployFiles.document("kubernetes/kustomization.yaml");
    JsonObject plans = kustomization.getJsonArray("configMapGenerator").getJsonObject(0);
    Set<String> named = new HashSet<>(DeployFiles.texts(kustomization.getJsonArray("resources")));
    named.addAll(DeployFiles.texts(plans.getJsonArray("files")));
    named.add("kustomization.yaml");
    try (Stream<Path> files = Files.list(DeployFiles.DIRECTORY.resolve("kubernetes"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(named);
    }
    assertThat(
            DeployFiles.objects(POD.getJsonArray("volumes"))
                .map(volume -> volume.getJsonObject("configMap").getString("name")))
        .containsExactly(plans.getString("name"));
    JsonObject labels =
        statefulSet().getJsonObject("template").getJsonObject("metadata").getJsonObject("labels");
    for (JsonObject resource : resources(kustomization)) {
      JsonObject spec = resource.getJsonObject("spec");
      JsonObject selector =
          spec.getJsonObject("selector", spec.getJsonObject("podSelector", new JsonObject()));
      if (!resource.getString("kind").equals("HorizontalPodAutoscaler")) {
        assertThat(selector.getJsonObject("matchLabels", selector)).isEqualTo(labels);
      }
    }
    assertThat(
            DeployFiles.document("kubernetes/autoscaler.yaml")
                .getJsonObject("spec")
                .getJsonObject("scaleTargetRef")
                .getString("name"))
        .isEqualTo("weir");
    assertThat(statefulSet().containsKey("replicas")).isFalse();
  }

  @Test
  void plansToBeginWithAreGood() {
    assertThat(PlansFile.read(DeployFiles.DIRECTORY.resolve("kubernetes/plans.yaml"))).isNotNull();
  }

  // systemd.

  @Test
  void unitStartsTheLauncherWithSettingsThatANodeTakesAndLeavesItTheTimeToStop() {
    Map<String, String> environment = new HashMap<>();
    unit("Environment")
        .forEach(
            assignment ->
                environment.put(assignment.split("=", 2)[0], assignment.split("=", 2)[1]));
    assertThat(settings(environment).dataDir())
        .isEqualTo(Path.of("/var/lib", unit("StateDirectory").get(0)));
    assertThat(unit("ExecStart")).containsExactly("/opt/weir/weir start");
    assertThat(unit("DynamicUser")).containsExactly("yes");
    assertThat(unit("RestartPreventExitStatus"))
        .containsExactly(Integer.toString(ExitCode.REFUSED));
    assertThat(Duration.ofSeconds(Integer.parseInt(unit("TimeoutStopSec").get(0))))
        .isGreaterThan(STOP);
  }

  // Prometheus and Grafana.

  @Test
  void prometheusTakesItsConfiguration() throws IOException {
    Path token = Files.writeString(directory.resolve("token"), DeployFiles.SECRET);
    for (String file : List.of("compose.yml", "kubernetes.yml")) {
      // It looks whether the files are there that are named.
      String text =
          DeployFiles.text("prometheus/" + file)
              .replaceAll("credentials_file: .*", "credentials_file: " + token)
              .replace("../alerts", DeployFiles.DIRECTORY.resolve("alerts").toString());
      Files.writeString(directory.resolve(file), text);
      Promtool.accepts(directory, "check", "config", file);
    }
  }

  @Test
  void prometheusAsksTheControlPlaneOfEveryNode() {
    JsonObject known = scrape("compose.yml");
    assertThat(
            DeployFiles.texts(
                known.getJsonArray("static_configs").getJsonObject(0).getJsonArray("targets")))
        .containsExactlyInAnyOrder(nodesAt(8081));
    JsonObject found = scrape("kubernetes.yml").getJsonArray("dns_sd_configs").getJsonObject(0);
    assertThat(found.getJsonArray("names").getString(0))
        .startsWith(IN_POD.cluster().dns().orElseThrow() + ".");
    assertThat(found.getInteger("port")).isEqualTo(IN_POD.admin().port());
  }

  @Test
  void prometheusTakesTheQueriesOfTheDashboard() throws IOException {
    JsonArray rules = new JsonArray();
    Dashboard.queries()
        .forEach(
            query ->
                rules.add(
                    new JsonObject()
                        .put("record", "dashboard:query" + rules.size())
                        .put("expr", query)));
    assertThat(rules).hasSizeGreaterThan(10);
    // JSON is YAML.
    Files.writeString(
        directory.resolve("dashboard.rules.yml"),
        JsonObject.of(
                "groups", JsonArray.of(JsonObject.of("name", "dashboard").put("rules", rules)))
            .encode());
    Promtool.accepts(directory, "check", "rules", "dashboard.rules.yml");
  }

  @Test
  void dashboardIsProvidedAsItIsMounted() {
    String provided =
        DeployFiles.document("grafana/provisioning/dashboards/weir.yml")
            .getJsonArray("providers")
            .getJsonObject(0)
            .getJsonObject("options")
            .getString("path");
    JsonObject grafana = COMPOSE.getJsonObject("services").getJsonObject("grafana");
    assertThat(DeployFiles.texts(grafana.getJsonArray("volumes")))
        .contains("./grafana/weir.json:" + provided + ":ro");
    assertThat(Dashboard.panelIds()).doesNotHaveDuplicates();
  }

  // The page.

  @Test
  void whatThePageNamesIsThere() throws IOException {
    Path docs = Repository.root().resolve("docs");
    Set<String> links = found(docs.resolve("deployment.md"), "\\]\\(([^)#]+)(?:#[^)]*)?\\)");
    assertThat(links).hasSizeGreaterThan(10);
    links.forEach(link -> assertThat(docs.resolve(link)).exists());
  }

  /** What a node makes of its environment, which holds nothing that it does not know. */
  private static Settings settings(Map<String, String> environment) {
    SettingsReader reader = new SettingsReader();
    reader.addEnvironment(environment);
    Settings settings = reader.settings();
    assertThat(reader.warnings()).isEmpty();
    return settings;
  }

  /** The operand of an instruction of the Dockerfile that is there once, at the end if not. */
  private static String instruction(String name) {
    List<String> found =
        DeployFiles.text("Dockerfile")
            .lines()
            .filter(line -> line.startsWith(name + " "))
            .map(line -> line.substring(name.length() + 1))
            .toList();
    assertThat(found).as(name).hasSize(1);
    return found.get(0);
  }

  private static Map<String, String> imageEnvironment() {
    return DeployFiles.text("Dockerfile")
        .lines()
        .filter(line -> line.startsWith("ENV "))
        .map(line -> line.substring("ENV ".length()).split("=", 2))
        .collect(Collectors.toMap(part -> part[0], part -> part[1].replace("\"", "")));
  }

  private static Map<String, String> inImage(Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(imageEnvironment());
    all.putAll(environment);
    return all;
  }

  private static Map<String, JsonObject> composeNodes() {
    JsonObject services = COMPOSE.getJsonObject("services");
    return services.fieldNames().stream()
        .filter(name -> name.startsWith("weir-"))
        .collect(Collectors.toMap(name -> name, services::getJsonObject));
  }

  private static String[] nodesAt(int port) {
    return composeNodes().keySet().stream().map(name -> name + ":" + port).toArray(String[]::new);
  }

  private static JsonObject statefulSet() {
    return DeployFiles.document("kubernetes/statefulset.yaml").getJsonObject("spec");
  }

  private static JsonObject service(String name) {
    return DeployFiles.documents("kubernetes/services.yaml").stream()
        .filter(service -> service.getJsonObject("metadata").getString("name").equals(name))
        .findFirst()
        .orElseThrow()
        .getJsonObject("spec");
  }

  private static List<JsonObject> resources(JsonObject kustomization) {
    return DeployFiles.texts(kustomization.getJsonArray("resources")).stream()
        .flatMap(file -> DeployFiles.documents("kubernetes/" + file).stream())
        .toList();
  }

  private static Map<String, Integer> containerPorts() {
    return DeployFiles.objects(CONTAINER.getJsonArray("ports"))
        .collect(
            Collectors.toMap(
                port -> port.getString("name"), port -> port.getInteger("containerPort")));
  }

  private static JsonObject scrape(String file) {
    return DeployFiles.document("prometheus/" + file)
        .getJsonArray("scrape_configs")
        .getJsonObject(0);
  }

  /** What a directive of the unit is given, each time that it is there. */
  private static List<String> unit(String directive) {
    return DeployFiles.text("systemd/weir.service")
        .lines()
        .filter(line -> line.startsWith(directive + "="))
        .map(line -> line.substring(directive.length() + 1))
        .toList();
  }

  /** What group 1 of {@code pattern} finds. */
  private static Set<String> found(Path file, String pattern) throws IOException {
    return Pattern.compile(pattern)
        .matcher(Files.readString(file))
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toSet());
  }
}
