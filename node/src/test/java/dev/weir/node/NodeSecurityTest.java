package dev.weir.node;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.lease.Certificates;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole node whose tokens and certificates are in files, which change while it runs. */
class NodeSecurityTest {

  private static final String ALICE = "alices-token-is-long-enough";
  private static final String BOB = "bobs-token-is-long-enough-too";

  private static final String LOOPBACK = "ip:127.0.0.1,dns:localhost";

  @TempDir private static Path certificateDirectory;
  private static Certificates certificates;

  @TempDir Path directory;
  private Vertx vertx;

  @BeforeAll
  static void issue() {
    certificates =
        Certificates.in(certificateDirectory)
            .issue("first", LOOPBACK)
            .issue("second", LOOPBACK)
            .issue("operator", "dns:operator.example");
  }

  @BeforeEach
  void makeVertx() {
    vertx = Vertx.vertx();
  }

  @AfterEach
  void closeVertx() {
    get(vertx.close());
  }

  @Test
  void tokensAreExchangedWhileTheNodeRuns() throws IOException {
    Path tokens = Files.writeString(directory.resolve("tokens"), "alice: " + ALICE);
    Weir weir = deploy(Map.of("admin.tokens_file", tokens.toString()));
    assertThat(reset(weir, ALICE)).isEqualTo(204);
    assertThat(reset(weir, BOB)).isEqualTo(401);

    Files.writeString(tokens, "bob: " + BOB);

    awaitUntilDone(() -> assertThat(reset(weir, BOB)).isEqualTo(204));
    assertThat(reset(weir, ALICE)).isEqualTo(401);
    assertThat(audit(weir)).contains("\"by\":\"alice\"", "\"by\":\"bob\"").doesNotContain(ALICE);
  }

  @Test
  void aTokensFileThatIsWrongStopsIt() throws IOException {
    Path tokens = Files.writeString(directory.resolve("tokens"), "alice: short");

    assertThatThrownBy(() -> deploy(Map.of("admin.tokens_file", tokens.toString())))
        .hasRootCauseMessage(
            "admin.tokens_file: "
                + tokens
                + ": line 1: the token of 'alice' must have 16 characters or more");
    assertThat(vertx.deploymentIDs()).isEmpty();
  }

  @Test
  void bothPlanesSpeakTlsAndNothingElse() throws Exception {
    Weir weir = deploy(tls("http", show("first")), tls("admin", show("first")));

    assertThat(over(HttpClient.Version.HTTP_2, weir.httpPort()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(over(HttpClient.Version.HTTP_1_1, weir.httpPort()).statusCode()).isEqualTo(200);
    HttpResponse<String> metrics =
        trusting(clientOf(Optional.empty()), weir.adminPort(), "/metrics");
    assertThat(metrics.body())
        .contains("weir_certificate_end_seconds{endpoint=\"admin\"}")
        .contains("weir_certificate_end_seconds{endpoint=\"http\"}");
    for (int port : List.of(weir.httpPort(), weir.adminPort())) {
      URI clear = URI.create("http://127.0.0.1:" + port + "/health/live");
      assertThatThrownBy(
              () ->
                  HttpClient.newHttpClient()
                      .send(HttpRequest.newBuilder(clear).build(), BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aCertificateIsExchangedWhileTheNodeRunsAndABadOneIsNot() throws Exception {
    Path files = show("first");
    Weir weir = deploy(tls("http", files), tls("admin", files));
    assertThat(shown(weir.httpPort())).isEqualTo("CN=first");

    Files.writeString(files.resolve("key"), "no key");
    Files.copy(certificates.certificate("second"), files.resolve("cert"), REPLACE_EXISTING);
    assertThat(shown(weir.httpPort())).isEqualTo("CN=first");
    Files.copy(certificates.key("second"), files.resolve("key"), REPLACE_EXISTING);

    for (int port : List.of(weir.httpPort(), weir.adminPort())) {
      awaitUntilDone(() -> assertThat(shown(port)).isEqualTo("CN=second"));
    }
    assertThat(over(HttpClient.Version.HTTP_2, weir.httpPort()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);
  }

  @Test
  void clientsOfTheControlPlaneProveWhoTheyAre() throws Exception {
    Map<String, String> mutual = tls("admin", show("first"));
    mutual.put("admin.tls.client_ca", certificates.authority().toString());
    Weir weir = deploy(mutual);

    assertThatThrownBy(() -> trusting(clientOf(Optional.empty()), weir.adminPort(), "/health/live"))
        .isInstanceOf(IOException.class);
    assertThat(
            trusting(clientOf(Optional.of("operator")), weir.adminPort(), "/health/live")
                .statusCode())
        .isEqualTo(200);
  }

  @Test
  void filesThatDoNotGoTogetherStopIt() throws IOException {
    Path files = show("first");
    Files.copy(certificates.key("second"), files.resolve("key"), REPLACE_EXISTING);
    assertRefused(files, "http.tls.key: KEY: must be the private key of the certificate");
    Files.writeString(files.resolve("key"), "no key");
    assertRefused(
        files,
        "http.tls.key: KEY: must hold a private key in PEM, of RSA or EC, without a password");
    Files.writeString(files.resolve("cert"), "no certificate");
    assertRefused(files, "http.tls.cert: CERT: must hold certificates in PEM");
    Files.delete(files.resolve("cert"));
    assertRefused(files, "http.tls.cert: CERT: no such file");
  }

  /** Java reads them, and Vert.x does not. */
  @Test
  void certificatesThatAreNotPemStopIt() throws Exception {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    List<Certificate> chain;
    try (InputStream pem = Files.newInputStream(certificates.authority())) {
      chain = List.copyOf(factory.generateCertificates(pem));
    }
    Path files = show("first");
    Path authorities = files.resolve("authorities");
    for (byte[] other :
        List.of(chain.get(0).getEncoded(), factory.generateCertPath(chain).getEncoded("PKCS7"))) {
      Files.write(authorities, other);
      Map<String, String> mutual = tls("admin", files);
      mutual.put("admin.tls.client_ca", authorities.toString());
      assertThatThrownBy(() -> deploy(mutual))
          .hasRootCauseMessage(
              "admin.tls.client_ca: " + authorities + ": must hold certificates in PEM");
      Files.write(files.resolve("cert"), other);
      assertRefused(files, "http.tls.cert: CERT: must hold certificates in PEM");
      Files.copy(certificates.certificate("first"), files.resolve("cert"), REPLACE_EXISTING);
    }
  }

  private void assertRefused(Path files, String error) {
    assertThatThrownBy(() -> deploy(tls("http", files)))
        .hasRootCauseMessage(
            error
                .replace("KEY", files.resolve("key").toString())
                .replace("CERT", files.resolve("cert").toString()));
  }

  /** A directory with a certificate and its key, as a node is told them. */
  private Path show(String name) throws IOException {
    Path files = Files.createTempDirectory(directory, "tls");
    Files.copy(certificates.certificate(name), files.resolve("cert"));
    Files.copy(certificates.key(name), files.resolve("key"));
    return files;
  }

  private static Map<String, String> tls(String plane, Path files) {
    return new HashMap<>(
        Map.of(
            plane + ".tls.cert", files.resolve("cert").toString(),
            plane + ".tls.key", files.resolve("key").toString()));
  }

  /** The subject of the certificate that a new connection is shown. */
  private String shown(int port) {
    try (SSLSocket socket =
        (SSLSocket) clientOf(Optional.empty()).getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.startHandshake();
      return socket.getSession().getPeerPrincipal().getName();
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private HttpResponse<String> over(HttpClient.Version version, int port) throws Exception {
    return HttpClient.newBuilder()
        .version(version)
        .sslContext(clientOf(Optional.empty()))
        .build()
        .send(
            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/v1/check?key=a"))
                .build(),
            BodyHandlers.ofString());
  }

  private static HttpResponse<String> trusting(SSLContext client, int port, String path)
      throws IOException, InterruptedException {
    return HttpClient.newBuilder()
        .sslContext(client)
        .build()
        .send(
            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path)).build(),
            BodyHandlers.ofString());
  }

  /** A client that trusts the authority, and has a certificate if {@code name} is there. */
  private SSLContext clientOf(Optional<String> name) throws GeneralSecurityException {
    try {
      PemTrustOptions authority =
          new PemTrustOptions().addCertPath(certificates.authority().toString());
      KeyManager[] keys = null;
      if (name.isPresent()) {
        keys =
            new PemKeyCertOptions()
                .addCertPath(certificates.certificate(name.get()).toString())
                .addKeyPath(certificates.key(name.get()).toString())
                .getKeyManagerFactory(vertx)
                .getKeyManagers();
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, authority.getTrustManagerFactory(vertx).getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw e;
    } catch (Exception e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** The files are looked at every two seconds. */
  private static void awaitUntilDone(Runnable assertion) {
    Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(assertion::run);
  }

  private static int reset(Weir weir, String token) {
    return send(weir, "/admin/reset/acme", token, "POST").statusCode();
  }

  private static String audit(Weir weir) {
    return send(weir, "/audit", BOB, "GET").body();
  }

  private static HttpResponse<String> send(Weir weir, String path, String token, String method) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + weir.adminPort() + path))
            .header("Authorization", "Bearer " + token)
            .method(method, BodyPublishers.noBody())
            .build();
    return HttpClient.newHttpClient().sendAsync(request, BodyHandlers.ofString()).join();
  }

  @SafeVarargs
  private Weir deploy(Map<String, String>... more) {
    Map<String, String> texts = new HashMap<>();
    for (Map<String, String> some : more) {
      texts.putAll(some);
    }
    texts.put("http.host", "127.0.0.1");
    texts.put("http.port", "0");
    texts.put("admin.port", "0");
    texts.put("data_dir", directory.resolve("data").toString());
    return get(Weir.deploy(vertx, Settings.of(texts)));
  }

  private static <T> T get(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }
}
