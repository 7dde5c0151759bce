package dev.weir.lease;

import static dev.weir.lease.StoreDriver.await;
import static dev.weir.lease.StoreDriver.limit;
import static dev.weir.lease.StoreDriver.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Clock;
import dev.weir.config.Limit;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Unavailable;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store whose Redis is killed, hangs, forgets its script or refuses to serve. */
final class RedisStoreIT {
  /** So much that nothing is ever rightly denied. */
  private static final Limit WIDE = limit(1, Duration.ofSeconds(1), 1_000_000_000_000L);

  private static final int CALLS = 100;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private Vertx vertx;
  private RedisServer server;
  private StoreDriver store;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
    server = RedisServer.start();
    store = open(server.url()).start();
  }

  @AfterEach
  void end() {
    store.close();
    await(vertx.close());
    server.close();
  }

  private StoreDriver open(String url) {
    return open(url, StoreDriver.TIMEOUT);
  }

  private StoreDriver open(String url, Duration timeout) {
    return new StoreDriver(
        vertx,
        Stores.open(
            StoreUrl.parse(url),
            "weir",
            Duration.ofMinutes(1),
            timeout,
            StoreDriver.ROOM,
            vertx,
            Clock.system(),
            meters));
  }

  @Test
  void aScriptFlushUnderLoadIsUnseen() {
    List<RefillOutcome> outcomes = new ArrayList<>();
    for (int round = 0; round < CALLS; round++) {
      Future<List<RefillOutcome>> flight = refills(300);
      server.call("SCRIPT", "FLUSH");
      outcomes.addAll(await(flight));
    }
    assertThat(outcomes).allSatisfy(outcome -> assertThat(grant(outcome)).isEqualTo(1));
    assertThat(store.used("key0", WIDE)).isPositive().isLessThanOrEqualTo(CALLS);
  }

  @Test
  void aKilledRedisIsUnavailableAtOnceAndServesAgainAfterItsReturn() {
    server.kill();
    awaitHealthy(false);
    assertThat(refill())
        .isInstanceOfSatisfying(Unavailable.class, u -> assertThat(u.unsent()).isTrue());
    server.restart();
    awaitHealthy(true);
    assertThat(grant(refill())).isEqualTo(1);
    awaitConnections(1);
  }

  @Test
  void aRedisKilledUnderLoadDeniesNothing() {
    AtomicBoolean enough = new AtomicBoolean();
    List<RefillOutcome> outcomes = new ArrayList<>();
    Future<Void> load = store.on(() -> keepRefilling(outcomes, enough));
    for (int round = 0; round < 3; round++) {
      server.kill();
      awaitHealthy(false);
      server.restart();
      awaitHealthy(true);
    }
    enough.set(true);
    await(load);
    assertThat(outcomes)
        .allSatisfy(
            outcome -> {
              if (outcome instanceof Answered) {
                assertThat(grant(outcome)).isEqualTo(1);
              }
            })
        .hasAtLeastOneElementOfType(Answered.class)
        .hasAtLeastOneElementOfType(Unavailable.class);
  }

  @Test
  void aHungRedisIsGivenUpAndServesAgainWhenItGoesOn() {
    server.suspend();
    Future<List<RefillOutcome>> flight = refills(10);
    // What is in flight may have been carried out.
    assertThat(await(flight))
        .allSatisfy(
            outcome ->
                assertThat(outcome)
                    .isInstanceOfSatisfying(
                        Unavailable.class, u -> assertThat(u.unsent()).isFalse()));
    assertThat(store.store().healthy()).isFalse();
    assertThat(refill())
        .isInstanceOfSatisfying(Unavailable.class, u -> assertThat(u.unsent()).isTrue());
    server.resume();
    awaitHealthy(true);
    assertThat(grant(refill())).isEqualTo(1);
    awaitConnections(1);
  }

  @Test
  void aSlowRedisIsLeftAloneUntilItIsFastAgain() {
    store.close();
    store = open(server.url(), Duration.ofMillis(20)).start();
    assertThat(grant(refill())).isEqualTo(1);
    AtomicBoolean fast = new AtomicBoolean();
    CompletableFuture<Void> slowness = CompletableFuture.runAsync(() -> keepPausing(fast));
    Awaitility.await().until(this::isLeftAlone);
    fast.set(true);
    slowness.join();
    Awaitility.await().untilAsserted(() -> assertThat(grant(refill())).isEqualTo(1));
    awaitHealthy(true);
    assertThat(meters.get("weir.store.open").gauge().value()).isZero();
    awaitConnections(1);
  }

  /** Each pause begins when the one before is over, and what has come meanwhile is answered. */
  private void keepPausing(AtomicBoolean enough) {
    try (RedisProbe probe = server.probe()) {
      while (!enough.get()) {
        probe.call("CLIENT", "PAUSE", "100");
      }
    }
  }

  /** Whether a refill is unavailable, and nobody has to wait for that; makes one if not. */
  private boolean isLeftAlone() {
    return await(
        store.on(
            () -> {
              Future<RefillOutcome> outcome = store.store().refill(batch(1)).get(0);
              return Future.succeededFuture(
                  outcome.result() instanceof Unavailable unavailable
                      && unavailable.unsent()
                      && unavailable.reason().contains("left alone")
                      && !store.store().healthy()
                      && meters.get("weir.store.open").gauge().value() == 1
                      && meters.get("weir.store.connected").gauge().value() == 1);
            }));
  }

  @Test
  void connectionsDoNotPileUpWhenTheyAreKilled() {
    for (int round = 0; round < 10; round++) {
      server.call("CLIENT", "KILL", "TYPE", "normal");
      Awaitility.await().untilAsserted(() -> assertThat(refill()).isInstanceOf(Answered.class));
      awaitConnections(1);
    }
  }

  @Test
  void connectionsDoNotPileUpWhenRedisIsRestarted() {
    for (int round = 0; round < 10; round++) {
      server.kill();
      awaitHealthy(false);
      server.restart();
      awaitHealthy(true);
      assertThat(grant(refill())).isEqualTo(1);
      awaitConnections(1);
    }
  }

  @Test
  void aRedisThatBecomesAReplicaIsLeftUntilItIsAMasterAgain() {
    server.call("REPLICAOF", "127.0.0.1", "1");
    Awaitility.await().until(() -> refill() instanceof Unavailable);
    server.call("REPLICAOF", "NO", "ONE");
    Awaitility.await().until(() -> refill() instanceof Answered);
    awaitConnections(1);
  }

  @Test
  void aRedisThatTookOverOlderDataBeginsAnEpoch() {
    long epoch = ((Answered) refill()).epoch();
    try (RedisServer replica =
        RedisServer.start("--replicaof", server.host(), Integer.toString(server.port()))) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> replica.call("INFO", "replication").toString().contains("link_status:up"));
      replica.call("REPLICAOF", "NO", "ONE");
      assertThat(((Answered) refill()).epoch()).isEqualTo(epoch);
      server.call("REPLICAOF", replica.host(), Integer.toString(replica.port()));
      Awaitility.await().until(() -> refill() instanceof Unavailable);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> server.call("INFO", "replication").toString().contains("link_status:up"));
      server.call("REPLICAOF", "NO", "ONE");
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> refill() instanceof Answered);
      assertThat(((Answered) refill()).epoch()).isGreaterThan(epoch);
      awaitConnections(1);
    }
  }

  /** Not the connection's fault: it is kept. */
  @ParameterizedTest
  @CsvSource({
    "NOREPLICAS, min-replicas-to-write, 1, 0",
    "OOM, maxmemory, 1, 0",
  })
  void aRedisThatRefusesToWriteLosesNoConnection(
      String code, String setting, String wrong, String right) {
    server.call("CONFIG", "SET", setting, wrong);
    assertThat(refill())
        .isInstanceOfSatisfying(Unavailable.class, u -> assertThat(u.reason()).contains(code));
    assertThat(store.store().healthy()).isTrue();
    server.call("CONFIG", "SET", setting, right);
    assertThat(grant(refill())).isEqualTo(1);
    awaitConnections(1);
  }

  @Test
  void aRedisThatCannotSaveRefusesUntilItCan() throws IOException {
    try (RedisServer saving = RedisServer.startProcess();
        StoreDriver user = open(saving.url()).start()) {
      List<?> directory = (List<?>) saving.call("CONFIG", "GET", "dir");
      Path inTheWay = Path.of(directory.get(1).toString(), "dump.rdb");
      Files.createDirectory(inTheWay);
      saving.call("CONFIG", "SET", "save", "3600 1");
      saving.call("BGSAVE");
      awaitUnavailable(user, "MISCONF");
      assertThat(user.refill(batch(1)))
          .first()
          .isInstanceOfSatisfying(Unavailable.class, u -> assertThat(u.unsent()).isTrue());
      Files.delete(inTheWay);
      saving.call("BGSAVE");
      awaitAnswered(user);
      Awaitility.await().untilAsserted(() -> assertThat(saving.clientConnections()).isEqualTo(1));
    }
  }

  @Test
  void aRedisThatRunsAnotherScriptForLongRefusesUntilThatEnds() {
    server.call("CONFIG", "SET", "lua-time-limit", "1");
    CompletableFuture<Object> script =
        CompletableFuture.supplyAsync(() -> server.call("EVAL", "while true do end", "0"));
    awaitUnavailable(store, "BUSY");
    server.call("SCRIPT", "KILL");
    awaitAnswered(store);
    script.join();
    awaitConnections(1);
  }

  @Test
  void aReplicaThatMissesItsMasterIsLeftUntilItIsAMaster() {
    server.call("CONFIG", "SET", "replica-serve-stale-data", "no");
    server.call("REPLICAOF", "127.0.0.1", "1");
    awaitUnavailable(store, "MASTERDOWN");
    server.call("REPLICAOF", "NO", "ONE");
    awaitAnswered(store);
    awaitConnections(1);
  }

  @Test
  void aRedisThatIsLoadingIsLeftUntilItHasLoaded() {
    // While it loads it looks at its connections after every 2 MiB.
    try (RedisServer slow =
        RedisServer.startProcess("--key-load-delay", "10000", "--rdbcompression", "no")) {
      for (int i = 0; i < 400; i++) {
        slow.call("SET", "key" + i, "x".repeat(16_384));
      }
      slow.call("SAVE");
      slow.kill();
      CompletableFuture<Void> loading = CompletableFuture.runAsync(slow::restart);
      Awaitility.await()
          .ignoreExceptions()
          .until(() -> slow.call("PING").toString().startsWith("LOADING"));
      try (StoreDriver early = open(slow.url())) {
        assertThatThrownBy(early::startAtOnce).hasMessageContaining("LOADING");
        assertThat(early.refill(batch(1))).hasOnlyElementsOfType(Unavailable.class);
        loading.join();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(early.store()::healthy);
        assertThat(grant(early.refill(batch(1)).get(0))).isEqualTo(1);
      }
    }
  }

  private static void awaitUnavailable(StoreDriver store, String code) {
    Awaitility.await()
        .until(
            () ->
                store.refill(batch(1)).get(0) instanceof Unavailable unavailable
                    && unavailable.reason().contains(code));
  }

  private static void awaitAnswered(StoreDriver store) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(grant(store.refill(batch(1)).get(0))).isEqualTo(1));
  }

  @Test
  void aStoreThatCannotBeReachedFailsToStartAndGoesOnTrying() {
    server.kill();
    StoreDriver late = open(server.url());
    assertThatThrownBy(late::startAtOnce).hasMessageContaining(Integer.toString(server.port()));
    assertThat(late.refill(List.of(new Refill("key", List.of(take(WIDE, 1))))))
        .first()
        .isInstanceOf(Unavailable.class);
    server.restart();
    Awaitility.await().until(late.store()::healthy);
    late.close();
  }

  @Test
  void aDatabaseAndAPasswordAreUsed() {
    server.call("CONFIG", "SET", "requirepass", "s3cret");
    try (StoreDriver inside = open(server.url().replace("//", "//:s3cret@") + "/3").start()) {
      assertThat(inside.granted("acme", WIDE, 1)).isEqualTo(1);
    }
    try (RedisProbe probe = server.probe()) {
      probe.call("AUTH", "s3cret");
      probe.call("SELECT", "3");
      assertThat(probe.call("KEYS", "weir:{acme}*"))
          .isEqualTo(List.of("weir:{acme}:default:level"));
    }
  }

  @Test
  void aWrongPasswordFailsToStartWithoutTellingIt() {
    server.call("CONFIG", "SET", "requirepass", "s3cret");
    StoreDriver outside = open(server.url().replace("//", "//:wr0ng@"));
    assertThatThrownBy(outside::startAtOnce)
        .hasMessageContaining("WRONGPASS")
        .message()
        .doesNotContain("wr0ng");
    outside.close();
  }

  @Test
  void aWrongPasswordIsSaidOnceAndServesWhenItHasBecomeRight() {
    server.call("ACL", "SETUSER", "acme", "on", ">another", "~*", "+@all");
    String url = server.url().replace("//", "//acme:s3cret@");
    try (LogLines log = new LogLines();
        StoreDriver user = open(url)) {
      user.on(user.store()::start);
      // It goes on trying.
      awaitRefusedLogins(2);
      assertThat(user.refill(batch(1))).hasOnlyElementsOfType(Unavailable.class);
      assertThat(log.all()).singleElement().asString().contains("WRONGPASS");
      server.call("ACL", "SETUSER", "acme", ">s3cret");
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(user.store()::healthy);
      assertThat(grant(user.refill(batch(1)).get(0))).isEqualTo(1);
      assertThat(log.all()).hasSize(1);
      awaitConnections(2);
    }
  }

  private void awaitRefusedLogins(long count) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                ((List<?>) server.call("ACL", "LOG"))
                        .stream()
                            .map(entry -> Long.parseLong(((List<?>) entry).get(1).toString()))
                            .mapToLong(Long::longValue)
                            .sum()
                    >= count);
  }

  @Test
  void aPermissionThatIsTakenAwayIsMissedUntilItIsBack() {
    server.call("ACL", "SETUSER", "acme", "on", ">s3cret", "~*", "+@all");
    String url = server.url().replace("//", "//acme:s3cret@");
    try (LogLines log = new LogLines();
        StoreDriver user = open(url, Duration.ofMillis(20)).start()) {
      server.call("ACL", "SETUSER", "acme", "-evalsha");
      Awaitility.await()
          .until(
              () -> {
                assertThat(user.refill(batch(1))).hasOnlyElementsOfType(Unavailable.class);
                return !user.store().healthy();
              });
      server.call("ACL", "SETUSER", "acme", "+evalsha");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> user.refill(batch(1)).get(0) instanceof Answered);
      assertThat(log.all()).singleElement().asString().contains("left alone", "NOPERM");
    }
  }

  @Test
  void whatArrivesTogetherLeavesTogether() {
    double before = meters.get("weir.store.call").timer().count();
    await(refills(256));
    assertThat(meters.get("weir.store.call").timer().count() - before).isEqualTo(1);
    assertThat(meters.get("weir.store.call.keys").summary().max()).isEqualTo(256);
    assertThat(meters.get("weir.store.connected").gauge().value()).isEqualTo(1);
  }

  @Test
  void onlyRefillsBeyondTheQueueAreRefusedForLackOfRoom() {
    int queued = RedisShard.REFILLS_WAITING;
    List<RefillOutcome> outcomes = await(refills(queued + 10));
    // A busy machine may let so many wait longer than a link may be silent: that is no lack of
    // room.
    assertThat(outcomes.subList(0, queued)).noneMatch(RedisStoreIT::lacksRoom);
    assertThat(outcomes.subList(queued, queued + 10)).allMatch(RedisStoreIT::lacksRoom);
  }

  private static boolean lacksRoom(RefillOutcome outcome) {
    return outcome instanceof Unavailable unavailable
        && unavailable.unsent()
        && unavailable.reason().startsWith("too many refills wait");
  }

  @Test
  void closingEndsTheConnection() {
    store.close();
    assertThat(refill()).isInstanceOf(Unavailable.class);
    awaitConnections(0);
  }

  private Future<Void> keepRefilling(List<RefillOutcome> outcomes, AtomicBoolean enough) {
    if (enough.get()) {
      return Future.succeededFuture();
    }
    return Future.all(store.store().refill(batch(100)))
        .onSuccess(all -> outcomes.addAll(all.list()))
        // A turn between, or a store that is away would answer without end in this one.
        .compose(all -> vertx.timer(1))
        .compose(tick -> keepRefilling(outcomes, enough));
  }

  private Future<List<RefillOutcome>> refills(int count) {
    return store.on(
        () -> Future.all(store.store().refill(batch(count))).map(all -> all.<RefillOutcome>list()));
  }

  private static List<Refill> batch(int count) {
    List<Refill> batch = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      batch.add(new Refill("key" + i, List.of(take(WIDE, 1))));
    }
    return batch;
  }

  private RefillOutcome refill() {
    return store.refill(batch(1)).get(0);
  }

  private static long grant(RefillOutcome outcome) {
    assertThat(outcome).isInstanceOf(Answered.class);
    return ((Answered) outcome).levels().get(0).granted();
  }

  private void awaitHealthy(boolean healthy) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> store.store().healthy() == healthy);
  }

  /** Of the stores, without that of the test that asks. */
  private void awaitConnections(long count) {
    Awaitility.await().untilAsserted(() -> assertThat(server.clientConnections()).isEqualTo(count));
  }
}
