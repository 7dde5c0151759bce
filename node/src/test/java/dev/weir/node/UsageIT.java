package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What can be invoiced is what callers were allowed, whatever happens to nodes and to Redis. */
class UsageIT {

  private static final int NODES = 3;
  private static final int COST = 3;
  private static final int KEYS = 5;
  private static final int MOST_CALLS = 20_000;

  private final List<Path> data =
      IntStream.range(0, NODES).mapToObj(i -> RunningNode.scratchDirectory()).toList();

  private RedisServer redis;
  private ClusterOfNodes cluster;

  @BeforeEach
  void start() {
    redis = RedisServer.startProcess("--appendonly", "yes");
    cluster = ClusterOfNodes.start(NODES, redis.url(), this::environment);
    for (NodeClient node : cluster.clients()) {
      node.putPlan("metered", "{\"rate\":300,\"period\":\"1s\",\"capacity\":600}");
      await().until(() -> node.check("onlooker", "metered", 0).status() == 200);
    }
  }

  @AfterEach
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
    redis.close();
  }

  private Map<String, String> environment(int node) {
    return Map.of("WEIR_DATA_DIR", data.get(node).toString(), "WEIR_ACCURACY_WINDOW", "5s");
  }

  /** One that asks a node again and again until it is told to stop, or gets no answer. */
  private static final class Caller {
    private final AtomicLong allowed = new AtomicLong();
    private final AtomicLong degraded = new AtomicLong();
    private volatile boolean stopped;

    /** Whether the last call had no answer, so that nobody knows what came of it. */
    private boolean unanswered;

    private final CompletableFuture<Void> end;

    Caller(NodeClient node) {
      end = CompletableFuture.runAsync(() -> call(node));
    }

    private void call(NodeClient node) {
      for (int i = 0; i < MOST_CALLS && !stopped; i++) {
        Answer answer;
        try {
          answer = node.check("key " + i % KEYS, "metered", COST);
        } catch (AssertionError e) {
          unanswered = true;
          return;
        }
        if (answer.admitted()) {
          allowed.addAndGet(COST);
          degraded.addAndGet(answer.degraded() ? COST : 0);
        }
      }
    }

    void stop() {
      stopped = true;
      end.join();
    }

    void awaitAllowed(long more) {
      long from = allowed.get();
      await().atMost(Duration.ofSeconds(60)).until(() -> allowed.get() >= from + more);
    }
  }

  @Test
  void whatIsReportedIsWhatCallersWereAllowedToTheUnit() {
    List<Caller> callers = new ArrayList<>(cluster.clients().stream().map(Caller::new).toList());
    callers.forEach(caller -> caller.awaitAllowed(100));

    // Among others, the connections that reports are acknowledged on.
    for (int i = 0; i < 20; i++) {
      redis.call("CLIENT", "KILL", "TYPE", "normal");
      callers.get(i % NODES).awaitAllowed(2 * COST);
    }

    Caller cutOff = callers.get(0);
    cluster.replace(0, redis.url(), environment(0));
    cutOff.end.join();
    assertThat(cutOff.unanswered).isTrue();
    callers.add(new Caller(cluster.client(0)));
    callers.get(NODES).awaitAllowed(100);

    redis.kill();
    callers.get(NODES).awaitAllowed(100);
    callers.get(1).awaitAllowed(100);
    redis.restart();
    for (NodeClient node : cluster.clients()) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> !node.check("onlooker", "metered", 0).degraded());
    }
    callers.get(1).awaitAllowed(100);

    callers.get(1).stop();
    assertThat(cluster.terminate(1)).isZero();
    callers.get(2).awaitAllowed(100);
    callers.forEach(Caller::stop);
    while (!cluster.clients().isEmpty()) {
      assertThat(cluster.terminate(0)).isZero();
    }

    List<JsonObject> records = usage("--until-idle");
    long allowed = sum(callers, caller -> caller.allowed.get());
    long degraded = sum(callers, caller -> caller.degraded.get());
    assertThat(degraded).isPositive();
    assertThat(records).extracting(each -> each.getString("state")).isSubsetOf("sealed", "late");
    // Of the one call that the killed node did not answer, nobody knows whether it was allowed.
    assertThat(sum(records, each -> each.getLong("spent"))).isIn(allowed, allowed + COST);
    assertThat(sum(records, each -> each.getLong("degraded"))).isIn(degraded, degraded + COST);
    assertThat(usage("--until-idle")).isEmpty();
  }

  private static <T> long sum(List<T> all, Function<T, Long> number) {
    return all.stream().mapToLong(number::apply).sum();
  }

  private List<JsonObject> usage(String... arguments) {
    List<String> command = new ArrayList<>(List.of("usage", "--format", "jsonl"));
    command.addAll(List.of(arguments));
    RunningNode.Exit exit =
        RunningNode.run(
            data.get(0), Map.of("WEIR_STORE", redis.url()), command.toArray(String[]::new));
    assertThat(exit.code()).as("%s", exit).isZero();
    return exit.out().stream().map(JsonObject::new).toList();
  }
}
