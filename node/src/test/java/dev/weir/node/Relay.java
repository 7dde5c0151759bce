package dev.weir.node;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The way to a port of the loopback address, which can be cut. */
final class Relay implements AutoCloseable {

  private static final String HOST = "127.0.0.1";

  private final Vertx vertx = Vertx.vertx();
  private final NetClient client = vertx.createNetClient();
  private final Set<NetSocket> sockets = ConcurrentHashMap.newKeySet();
  private final int port = FreePorts.next();
  private final int target;
  private NetServer server;

  /**
   * @param target the port that it leads to
   */
  Relay(int target) {
    this.target = target;
    mend();
  }

  /** Where to connect to. */
  String address() {
    return HOST + ":" + port;
  }

  void mend() {
    server = vertx.createNetServer().connectHandler(this::relay);
    get(server.listen(port, HOST));
  }

  /** Ends all connections and takes no more. */
  void cut() {
    get(server.close());
    sockets.forEach(NetSocket::close);
  }

  private void relay(NetSocket near) {
    near.pause();
    client
        .connect(target, HOST)
        .onSuccess(
            far -> {
              pipe(near, far);
              pipe(far, near);
            })
        .onFailure(ignored -> near.close());
  }

  /** Closes {@code to} when {@code from} ends. */
  private void pipe(NetSocket from, NetSocket to) {
    sockets.add(from);
    from.pipeTo(to).onComplete(ignored -> sockets.remove(from));
  }

  @Override
  public void close() {
    get(vertx.close());
  }

  private static void get(Future<?> future) {
    try {
      future.toCompletionStage().toCompletableFuture().get(10, SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
