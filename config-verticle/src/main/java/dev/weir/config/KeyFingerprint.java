package dev.weir.config;

import java.nio.charset.StandardCharsets;

/**
 * What the log calls a key by, since a key may be a secret of its owner: the beginning of its
 * SHA-256, by which whoever has the key finds it.
 */
public final class KeyFingerprint {

  private static final int DIGITS = 16;

  private KeyFingerprint() {}

  /** {@code sha256:} and the first 16 hexadecimal digits. */
  public static String of(String key) {
    return "sha256:" + Sha256.of(key.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS);
  }
}
