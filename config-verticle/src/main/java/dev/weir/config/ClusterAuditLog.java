package dev.weir.config;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.ringbuffer.ReadResultSet;
import com.hazelcast.ringbuffer.Ringbuffer;
import io.vertx.core.Future;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The changes made in a cluster: a ring buffer of Hazelcast, whose copies outlive the node that
 * holds it. Its capacity is set in {@code cluster.xml}.
 */
final class ClusterAuditLog implements AuditLog {

  private static final String CHANGES = "weir.audit";
  private static final long DEADLINE_SECONDS = 5;

  private final Ringbuffer<String> ring;
  private final WorkerExecutor worker;

  ClusterAuditLog(HazelcastInstance hazelcast, WorkerExecutor worker) {
    this.ring = hazelcast.getRingbuffer(CHANGES);
    this.worker = worker;
  }

  @Override
  public Future<Void> add(JsonObject change) {
    return worker
        .executeBlocking(() -> ring.add(change.encode()))
        .timeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
        .mapEmpty();
  }

  @Override
  public Future<List<JsonObject>> recent() {
    return worker.executeBlocking(this::read).timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  private List<JsonObject> read() throws Exception {
    ReadResultSet<String> texts =
        ring.readManyAsync(ring.headSequence(), 0, CAPACITY, null)
            .toCompletableFuture()
            .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    List<JsonObject> newestFirst = new ArrayList<>();
    for (int i = texts.size() - 1; i >= 0; i--) {
      newestFirst.add(new JsonObject(texts.get(i)));
    }
    return newestFirst;
  }
}
