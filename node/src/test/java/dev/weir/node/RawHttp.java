package dev.weir.node;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends what no proper HTTP client would. */
final class RawHttp {

  private RawHttp() {}

  /** The status of the answer to a request of {@code methodAndTarget}, without a body. */
  static int status(int port, String methodAndTarget) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket
          .getOutputStream()
          .write(
              (methodAndTarget + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.UTF_8));
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      return Integer.parseInt(answer.readLine().split(" ", 3)[1]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
