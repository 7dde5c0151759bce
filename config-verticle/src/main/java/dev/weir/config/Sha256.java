package dev.weir.config;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The digest that contents are told apart by. */
public final class Sha256 {

  private Sha256() {}

  /** The digest of {@code contents}, 32 bytes. */
  public static byte[] digest(byte[] contents) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(contents);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** The digest of {@code contents}, as 64 lower-case hexadecimal digits. */
  static String of(byte[] contents) {
    return HexFormat.of().formatHex(digest(contents));
  }
}
