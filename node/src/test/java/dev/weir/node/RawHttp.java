package dev.weir.node;

import static java.util.stream.Collectors.joining;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/** Sends what no proper HTTP client would. */
final class RawHttp {

  private RawHttp() {}

  /**
   * The status of the answer to a request of {@code methodAndTarget} with {@code headers}, whose
   * body, if they announce one, is not sent.
   */
  static int status(int port, String methodAndTarget, String... headers) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket
          .getOutputStream()
          .write(
              (methodAndTarget
                      + " HTTP/1.1\r\nHost: x\r\n"
                      + Stream.of(headers).map(header -> header + "\r\n").collect(joining())
                      + "\r\n")
                  .getBytes(StandardCharsets.UTF_8));
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      return Integer.parseInt(answer.readLine().split(" ", 3)[1]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
