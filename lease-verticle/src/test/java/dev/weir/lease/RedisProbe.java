package dev.weir.lease;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A blocking connection to Redis, by which tests look behind the store. Speaks RESP2. */
public final class RedisProbe implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 5000;

  /** What a null reply is. */
  public static final Object NOTHING = "(nil)";

  private final Socket socket;
  private final InputStream in;

  private RedisProbe(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Connects, and then waits for no reply longer than five seconds. */
  public static RedisProbe connect(String host, int port) {
    try {
      Socket socket = new Socket();
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
      return new RedisProbe(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The reply: a {@code String} (errors too), a {@code Long}, a {@code List}, or nothing. */
  public Object call(String... command) {
    StringBuilder request = new StringBuilder("*" + command.length + "\r\n");
    for (String argument : command) {
      int length = argument.getBytes(StandardCharsets.UTF_8).length;
      request.append('$').append(length).append("\r\n").append(argument).append("\r\n");
    }
    try {
      socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
      return read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Object read() throws IOException {
    String line = line();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case ':' -> Long.valueOf(rest);
      case '$' -> bulk(Integer.parseInt(rest));
      case '*' -> array(Integer.parseInt(rest));
      default -> rest;
    };
  }

  private Object bulk(int length) throws IOException {
    if (length < 0) {
      return NOTHING;
    }
    byte[] bytes = in.readNBytes(length);
    line();
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private Object array(int length) throws IOException {
    if (length < 0) {
      return NOTHING;
    }
    List<Object> elements = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      elements.add(read());
    }
    return elements;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("Redis closed the connection");
      }
      line.append((char) c);
    }
    in.read();
    return line.toString();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
