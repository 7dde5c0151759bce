package dev.weir.lease;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/** A script for Redis, called by its hash, and with its text where a server does not have it. */
record LuaScript(String text, String sha1) {

  static LuaScript of(String text) {
    return new LuaScript(text, sha1(text));
  }

  /** The text of a script as it is shipped. */
  static String shipped(String file) {
    try (InputStream in = LuaScript.class.getResourceAsStream(file)) {
      return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives a server the script. */
  Request load() {
    return Request.cmd(Command.SCRIPT).arg("LOAD").arg(text);
  }

  /** Begins a call of the script that the server should have; names and arguments follow. */
  Request callLoaded() {
    return Request.cmd(Command.EVALSHA).arg(sha1);
  }

  /** Begins a call that brings the script along. */
  Request callWithText() {
    return Request.cmd(Command.EVAL).arg(text);
  }

  private static String sha1(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
