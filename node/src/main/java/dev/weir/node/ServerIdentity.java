package dev.weir.node;

import dev.weir.node.Settings.TlsFiles;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;

/**
 * Who an endpoint is to its clients, and whom it lets in. Immutable.
 *
 * @param options for its server
 * @param endSeconds when its certificate ends, in seconds since 1970
 */
record ServerIdentity(ServerSSLOptions options, long endSeconds) {

  private static final int CERTIFICATE = 0;
  private static final int KEY = 1;
  private static final int CLIENT_AUTHORITIES = 2;

  private static final byte[] PROBE = {1};

  /**
   * The files of an endpoint, to be read and watched.
   *
   * @param section of the settings that name them, {@code http.tls} for instance
   */
  static WatchedFiles<ServerIdentity> watch(String section, TlsFiles files, Vertx vertx) {
    List<WatchedFiles.Source> sources = new ArrayList<>();
    sources.add(new WatchedFiles.Source(section + ".cert", files.certificate()));
    sources.add(new WatchedFiles.Source(section + ".key", files.key()));
    files
        .clientAuthorities()
        .ifPresent(file -> sources.add(new WatchedFiles.Source(section + ".client_ca", file)));
    return WatchedFiles.read(sources, contents -> parse(contents, vertx));
  }

  private static ServerIdentity parse(List<byte[]> contents, Vertx vertx) {
    PemKeyCertOptions identity =
        new PemKeyCertOptions()
            .addCertValue(Buffer.buffer(contents.get(CERTIFICATE)))
            .addKeyValue(Buffer.buffer(contents.get(KEY)));
    certificates(contents, CERTIFICATE, vertx);
    X509Certificate certificate = certificate(identity, vertx);
    ServerSSLOptions options = new ServerSSLOptions().setKeyCertOptions(identity);
    if (contents.size() > CLIENT_AUTHORITIES) {
      options
          .setTrustOptions(certificates(contents, CLIENT_AUTHORITIES, vertx))
          .setClientAuth(ClientAuth.REQUIRED);
    }
    return new ServerIdentity(options, certificate.getNotAfter().toInstant().getEpochSecond());
  }

  /** Read as the server will read them, which takes fewer formats than Java. */
  private static PemTrustOptions certificates(List<byte[]> contents, int file, Vertx vertx) {
    PemTrustOptions certificates =
        new PemTrustOptions().addCertValue(Buffer.buffer(contents.get(file)));
    try {
      certificates.getTrustManagerFactory(vertx);
      return certificates;
    } catch (Exception e) {
      // Whatever the parser comes upon.
      throw new FileRefusedException(file, List.of("must hold certificates in PEM"));
    }
  }

  /** The one whose key is there, both read as the server will read them. */
  private static X509Certificate certificate(PemKeyCertOptions identity, Vertx vertx) {
    try {
      for (KeyManager manager : identity.getKeyManagerFactory(vertx).getKeyManagers()) {
        if (manager instanceof X509KeyManager keys) {
          String alias =
              Stream.of("EC", "RSA")
                  .flatMap(type -> aliases(keys, type))
                  .findFirst()
                  .orElseThrow(ServerIdentity::otherKind);
          X509Certificate certificate = keys.getCertificateChain(alias)[0];
          requireMatch(certificate, keys.getPrivateKey(alias));
          return certificate;
        }
      }
    } catch (FileRefusedException e) {
      throw e;
    } catch (Exception e) {
      // Whatever the parser comes upon; its words might be of what is in the file.
      throw new FileRefusedException(
          KEY, List.of("must hold a private key in PEM, of RSA or EC, without a password"));
    }
    throw otherKind();
  }

  private static Stream<String> aliases(X509KeyManager keys, String type) {
    String[] aliases = keys.getServerAliases(type, null);
    return aliases == null ? Stream.empty() : Stream.of(aliases);
  }

  private static FileRefusedException otherKind() {
    return new FileRefusedException(CERTIFICATE, List.of("must be a certificate of RSA or EC"));
  }

  /**
   * A certificate with another's key would be taken, and every handshake fail; and while both files
   * are exchanged one after the other, that is what there is.
   */
  private static void requireMatch(X509Certificate certificate, PrivateKey key) {
    try {
      Signature signature =
          Signature.getInstance(
              key.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA");
      signature.initSign(key);
      signature.update(PROBE);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(PROBE);
      if (signature.verify(signed)) {
        return;
      }
    } catch (GeneralSecurityException e) {
      // Refused below: they are not even of the same kind.
    }
    throw new FileRefusedException(KEY, List.of("must be the private key of the certificate"));
  }
}
