package dev.weir.lease;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A certificate authority for tests, made when they run, by the JDK's {@code keytool}. */
public final class Certificates {
  private static final String PASSWORD = "changeit";
  private static final String AUTHORITY = "authority";

  private final Path directory;
  private final Path store;

  private Certificates(Path directory) {
    this.directory = directory;
    this.store = directory.resolve("store.p12");
  }

  /** Makes an authority of its own in an empty {@code directory}. */
  public static Certificates in(Path directory) {
    Certificates certificates = new Certificates(directory);
    certificates.generate(AUTHORITY, "-ext", "bc:c");
    String authority = certificates.authority().toString();
    certificates.keytool("-exportcert", "-alias", AUTHORITY, "-rfc", "-file", authority);
    keytool(certificates.trustStore(), "-importcert", "-noprompt", "-file", authority);
    return certificates;
  }

  /** The authority's certificate, PEM. */
  public Path authority() {
    return directory.resolve("ca.pem");
  }

  /** The authority's certificate, and nothing else, as a JVM keeps what it trusts. */
  public Path trustStore() {
    return directory.resolve("trusted.p12");
  }

  public String trustStorePassword() {
    return PASSWORD;
  }

  /** The certificate {@code name}, PEM. */
  public Path certificate(String name) {
    return directory.resolve(name + ".pem");
  }

  /** Its private key, PEM. */
  public Path key(String name) {
    return directory.resolve(name + ".key");
  }

  /**
   * Makes a certificate, signed by the authority.
   *
   * @param hosts whom it is for, as {@code dns:name} or {@code ip:address}
   */
  public Certificates issue(String name, String hosts) {
    generate(name);
    String request = directory.resolve(name + ".csr").toString();
    keytool("-certreq", "-alias", name, "-file", request);
    keytool(
        "-gencert",
        "-alias",
        AUTHORITY,
        "-infile",
        request,
        "-outfile",
        certificate(name).toString(),
        "-rfc",
        "-ext",
        "san=" + hosts);
    writeKey(name);
    return this;
  }

  /** Makes a certificate that nobody but itself has signed. */
  public Certificates selfSign(String name, String hosts) {
    generate(name, "-ext", "san=" + hosts);
    keytool("-exportcert", "-alias", name, "-rfc", "-file", certificate(name).toString());
    writeKey(name);
    return this;
  }

  private void generate(String name, String... more) {
    List<String> command = new ArrayList<>(List.of("-genkeypair", "-keyalg", "EC", "-alias", name));
    command.addAll(List.of("-dname", "CN=" + name, "-validity", "2"));
    command.addAll(List.of(more));
    keytool(command.toArray(String[]::new));
  }

  private void writeKey(String name) {
    try {
      KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
      byte[] key = keys.getKey(name, PASSWORD.toCharArray()).getEncoded();
      String lines =
          Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(key);
      Files.writeString(
          key(name), "-----BEGIN PRIVATE KEY-----\n" + lines + "\n-----END PRIVATE KEY-----\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private void keytool(String... arguments) {
    keytool(store, arguments);
  }

  private static void keytool(Path store, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(
        List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.onExit().join().exitValue() != 0) {
        throw new IllegalStateException(String.join(" ", command) + ": " + told);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
