package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What a node says of itself on the port of its control plane. */
final class NodeHealth {

  private static final Ask READY = new Ask("/health/ready", List.of(), 1, 1);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final VertxHttpLoad client;
  private final int adminPort;

  NodeHealth(VertxHttpLoad client, int adminPort) {
    this.client = client;
    this.adminPort = adminPort;
  }

  /** Nodes that it sees, itself among them. */
  int nodes() {
    return said().getInteger("nodes");
  }

  /**
   * Waits until it has its store again.
   *
   * @throws IllegalStateException if that takes too long
   */
  void awaitStore() {
    long begin = System.nanoTime();
    while (!said().getString("store").equals("up")) {
      if (System.nanoTime() - begin > PATIENCE_NANOS) {
        throw new IllegalStateException("the node does not find its store again");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private JsonObject said() {
    return client.answer(adminPort, READY).body().toJsonObject();
  }
}
