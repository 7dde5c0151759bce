package dev.weir.node;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of the loopback address that nobody listens on, for settings that must name one. They lie
 * below those that systems give to outgoing connections, so that none of these takes one away
 * before its user listens on it.
 */
final class FreePorts {

  private static final int FIRST = 20_000;
  private static final int END = 32_000;

  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private FreePorts() {}

  /** A port that is free now and was not given to anyone else in this JVM. */
  static int next() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      if (isFree(port) && GIVEN.add(port)) {
        return port;
      }
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
