package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code weir usage} as a pipeline calls it, on records that are there. */
class UsageCommandIT {

  private static final Path DIRECTORY = RunningNode.scratchDirectory();
  private static final String HEAD =
      "key,plan,window_start,window_end,spent,degraded,authorized,nodes,state";

  private static RedisServer redis;

  @BeforeAll
  static void startRedis() {
    redis = RedisServer.start();
  }

  @AfterAll
  static void stopRedis() {
    redis.close();
  }

  @BeforeEach
  void forget() {
    redis.call("FLUSHALL");
  }

  /** Puts an entry into the stream as nodes do. */
  private static void add(String state, String key, String plan, String start, int spent) {
    long millis = Instant.parse(start).toEpochMilli();
    List<String> command =
        new ArrayList<>(List.of("XADD", "weir:usage", "*", "state", state, "key", key));
    command.addAll(List.of("plan", plan));
    command.addAll(List.of("window_start", Long.toString(millis)));
    command.addAll(List.of("window_end", Long.toString(millis + 60_000)));
    for (String prefix : List.of("", "all_")) {
      command.addAll(List.of(prefix + "spent", Integer.toString(spent), prefix + "degraded", "1"));
      command.addAll(List.of(prefix + "denied", "0", prefix + "would_deny", "0"));
      command.addAll(List.of(prefix + "authorized", "9", prefix + "nodes", "2"));
    }
    redis.call(command.toArray(String[]::new));
  }

  private static Map<String, String> settings() {
    return Map.of("WEIR_STORE", redis.url());
  }

  private static RunningNode.Exit usage(String... options) {
    return RunningNode.run(
        DIRECTORY,
        settings(),
        Stream.concat(Stream.of("usage"), Stream.of(options)).toArray(String[]::new));
  }

  private static RunningNode follow(String... options) {
    return RunningNode.launch(
        DIRECTORY,
        settings(),
        Stream.concat(Stream.of("usage", "--follow"), Stream.of(options)).toList());
  }

  @Test
  void whoFiltersTakesNothingAwayAndWhoReadsAllIsToldOnce() {
    add("sealed", "acme", "gold", "2026-03-01T12:00:00Z", 5);
    add("report", "acme", "gold", "2026-03-01T12:01:00Z", 6);
    add("late", "acme", "free", "2026-03-01T12:02:00Z", 7);
    add("sealed", "a \"b\", c", "gold", "2026-03-01T12:03:00Z", 8);

    RunningNode.Exit filtered =
        usage(
            "--format=csv",
            "--include-open",
            "--key=acme",
            "--plan=gold",
            "--from=2026-03-01",
            "--to=2026-03-01T12:02:00Z");
    assertThat(filtered.code()).as("%s", filtered).isZero();
    assertThat(filtered.out())
        .containsExactly(
            HEAD,
            "acme,gold,2026-03-01T12:00:00.000Z,2026-03-01T12:01:00.000Z,5,1,9,2,sealed",
            "acme,gold,2026-03-01T12:01:00.000Z,2026-03-01T12:02:00.000Z,6,1,9,2,open");

    RunningNode.Exit all = usage("--format=csv");
    assertThat(all.code()).as("%s", all).isZero();
    assertThat(all.out())
        .containsExactly(
            HEAD,
            "acme,gold,2026-03-01T12:00:00.000Z,2026-03-01T12:01:00.000Z,5,1,9,2,sealed",
            "acme,free,2026-03-01T12:02:00.000Z,2026-03-01T12:03:00.000Z,7,1,9,2,late",
            "\"a \"\"b\"\", c\",gold,2026-03-01T12:03:00.000Z,2026-03-01T12:04:00.000Z,8,1,9,2,sealed");

    RunningNode.Exit again = usage("--format=csv");
    assertThat(again.code()).as("%s", again).isZero();
    assertThat(again.out()).containsExactly(HEAD);
  }

  @Test
  void readersOfAGroupShareUntilTheyAreStopped() {
    try (RunningNode one = follow("--group=bills");
        RunningNode other = follow("--group=bills")) {
      List<String> added = new ArrayList<>();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                added.add("key " + added.size());
                add("sealed", added.get(added.size() - 1), "gold", "2026-03-01T12:00:00Z", 1);
                return !one.output().isEmpty() && !other.output().isEmpty();
              });
      await().until(() -> one.output().size() + other.output().size() == added.size());
      assertThat(one.terminate()).isZero();
      assertThat(other.terminate()).isZero();
      assertThat(
              Stream.concat(one.output().stream(), other.output().stream())
                  .map(line -> new JsonObject(line).getString("key")))
          .containsExactlyInAnyOrderElementsOf(added);
    }
    assertThat(usage("--group=bills").out()).isEmpty();
  }

  @Test
  void theExitCodeTellsWhoseFaultItIs() {
    RunningNode.Exit wrong = usage("--from=yesterday");
    assertThat(wrong.code()).isEqualTo(ExitCode.REFUSED);
    assertThat(wrong.err()).singleElement().asString().startsWith("weir: --from: must be a date");
    assertThat(wrong.out()).isEmpty();

    RunningNode.Exit away =
        RunningNode.run(
            DIRECTORY, Map.of("WEIR_STORE", "redis://127.0.0.1:" + FreePorts.next()), "usage");
    assertThat(away.code()).isEqualTo(ExitCode.FAILED);
    assertThat(away.err()).singleElement().asString().startsWith("weir: store.url: the store does");
  }
}
