package dev.weir.node;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks of cost 1, each of a key that was never asked for before, in large batches, on {@value
 * #CONNECTIONS} connections with a few batches under way on each: as many keys as a node can be
 * made to meet in a short time.
 */
final class KeyFlood {

  private static final int CONNECTIONS = 2;
  private static final int UNDER_WAY = 3;
  private static final int BATCH = 2_000;
  private static final int PATIENCE_MILLIS = 60_000;

  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: *(\\d+)\r\n", Pattern.CASE_INSENSITIVE);
  private static final byte[] ALLOWED = ascii("\"allowed\":true");
  private static final byte[] DENIED = ascii("\"allowed\":false");
  private static final byte[] DEGRADED = ascii("\"degraded\":true");

  /**
   * What came of it.
   *
   * @param allowed checks
   * @param denied checks
   * @param degraded those of both that were decided without the store
   */
  record Told(long allowed, long denied, long degraded) {
    Told plus(Told other) {
      return new Told(allowed + other.allowed, denied + other.denied, degraded + other.degraded);
    }
  }

  private KeyFlood() {}

  /**
   * Checks {@code keys} keys under {@code plan}; fails if one has no answer, or any but 200.
   *
   * @param keys a multiple of all that the connections send at once
   */
  static Told run(URI node, String plan, int keys) {
    if (keys % (CONNECTIONS * BATCH) != 0) {
      throw new IllegalArgumentException("keys: must be whole batches, were " + keys);
    }
    int each = keys / CONNECTIONS;
    CompletableFuture<Told> second =
        CompletableFuture.supplyAsync(() -> flood(node, plan, each, each));
    return flood(node, plan, 0, each).plus(second.join());
  }

  private static Told flood(URI node, String plan, int from, int count) {
    try (Socket socket = new Socket(node.getHost(), node.getPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      OutputStream out = socket.getOutputStream();
      Told told = new Told(0, 0, 0);
      int batches = count / BATCH;
      for (int batch = 0; batch < batches + UNDER_WAY; batch++) {
        if (batch < batches) {
          out.write(request(plan, from + batch * BATCH));
        }
        if (batch >= UNDER_WAY) {
          told = told.plus(read(in));
        }
      }
      return told;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] request(String plan, int first) {
    StringBuilder checks = new StringBuilder(BATCH * 48).append("{\"checks\":[");
    for (int i = first; i < first + BATCH; i++) {
      checks
          .append(i == first ? "" : ",")
          .append("{\"key\":\"flood-")
          .append(i)
          .append("\",\"plan\":\"")
          .append(plan)
          .append("\"}");
    }
    checks.append("]}");
    String head =
        "POST /v1/check/batch HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\n"
            + "Content-Length: "
            + checks.length()
            + "\r\n\r\n";
    return ascii(head + checks);
  }

  private static Told read(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException("no answer: " + head);
      }
      head.append((char) next);
    }
    Matcher length = LENGTH.matcher(head);
    if (!head.toString().startsWith("HTTP/1.1 200 ") || !length.find()) {
      throw new AssertionError("not answered: " + head);
    }
    byte[] body = in.readNBytes(Integer.parseInt(length.group(1)));
    Told told = new Told(count(body, ALLOWED), count(body, DENIED), count(body, DEGRADED));
    if (told.allowed + told.denied != BATCH) {
      throw new AssertionError("answers of " + BATCH + " checks: " + told);
    }
    return told;
  }

  private static long count(byte[] text, byte[] part) {
    long found = 0;
    for (int i = 0; i <= text.length - part.length; i++) {
      if (text[i] == part[0] && Arrays.equals(text, i, i + part.length, part, 0, part.length)) {
        found++;
        i += part.length - 1;
      }
    }
    return found;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
