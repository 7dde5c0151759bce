package dev.weir.config;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link ConfigState} as the bytes of a file, which people can read as well. The first line is
 * {@code weir configuration 1 DIGEST}: the number of the format and the SHA-256 of all that
 * follows. Then a line of JSON with plans, weights and rules, and one for each key with {@code
 * tier}, the name of its plan, and {@code override}, what it has of its own.
 */
final class StateFormat {

  private static final String MAGIC = "weir configuration ";
  private static final String HEAD = MAGIC + "1 ";
  private static final int DIGEST_CHARS = 64;
  private static final int HEAD_BYTES = HEAD.length() + DIGEST_CHARS + 1;

  private StateFormat() {}

  static byte[] write(ConfigState state) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[HEAD_BYTES]);
    writeLine(out, new JsonObject(state.document().format()));
    for (Map.Entry<String, String> entry : state.assignments().entrySet()) {
      JsonObject line = new JsonObject().put("key", entry.getKey()).put("tier", entry.getValue());
      KeyOverride override = state.overrides().get(entry.getKey());
      writeLine(out, override == null ? line : line.put("override", KeyFormat.write(override)));
    }
    for (Map.Entry<String, KeyOverride> entry : state.overrides().entrySet()) {
      if (!state.assignments().containsKey(entry.getKey())) {
        writeLine(
            out,
            new JsonObject()
                .put("key", entry.getKey())
                .put("override", KeyFormat.write(entry.getValue())));
      }
    }
    byte[] bytes = out.toByteArray();
    byte[] head = (HEAD + digest(bytes) + "\n").getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(head, 0, bytes, 0, HEAD_BYTES);
    return bytes;
  }

  private static void writeLine(ByteArrayOutputStream out, JsonObject line) {
    out.writeBytes(line.toBuffer().getBytes());
    out.write('\n');
  }

  /**
   * @throws IllegalArgumentException with the reason, if {@code bytes} are not what {@link #write}
   *     wrote
   */
  static ConfigState read(byte[] bytes) {
    String head =
        new String(bytes, 0, Math.min(bytes.length, HEAD_BYTES), StandardCharsets.ISO_8859_1);
    if (!head.startsWith(HEAD)) {
      throw new IllegalArgumentException(
          head.startsWith(MAGIC)
              ? "has a format that this version of Weir does not know"
              : "is no configuration of Weir");
    }
    if (!head.endsWith("\n") || !head.equals(HEAD + digest(bytes) + "\n")) {
      throw new IllegalArgumentException("is damaged: its contents do not fit its checksum");
    }
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                new ByteArrayInputStream(bytes, HEAD_BYTES, bytes.length - HEAD_BYTES),
                StandardCharsets.UTF_8))) {
      ConfigDocument document = ConfigDocument.parse(new JsonObject(lines.readLine()).getMap());
      return withKeys(document, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (DecodeException | ClassCastException | ConfigRefusedException e) {
      throw new IllegalArgumentException("cannot be understood: " + e.getMessage(), e);
    }
  }

  /** The keys of a plan share the text of its name. */
  private static ConfigState withKeys(ConfigDocument document, BufferedReader lines)
      throws IOException {
    Map<String, String> assignments = new HashMap<>();
    Map<String, KeyOverride> overrides = new HashMap<>();
    for (String text = lines.readLine(); text != null; text = lines.readLine()) {
      JsonObject line = new JsonObject(text);
      String key = line.getString("key");
      Optional.ofNullable(line.getString("tier"))
          .flatMap(document::plan)
          .ifPresent(plan -> assignments.put(key, plan.name()));
      Optional.ofNullable(line.getJsonObject("override"))
          .ifPresent(numbers -> overrides.put(key, KeyFormat.read(numbers.getMap())));
    }
    return new ConfigState(document, KeyMap.of(assignments), KeyMap.of(overrides));
  }

  private static String digest(byte[] bytes) {
    return Sha256.of(Arrays.copyOfRange(bytes, Math.min(HEAD_BYTES, bytes.length), bytes.length));
  }
}
