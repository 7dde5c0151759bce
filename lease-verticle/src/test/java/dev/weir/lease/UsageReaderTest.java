package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Readers on the Redis that this machine has. */
final class UsageReaderTest {
  private static final long MINUTE = 60_000;
  private static final Duration SOON = Duration.ofMillis(300);

  private static Vertx vertx;
  private static int prefixes;

  private final List<UsageReader> opened = new ArrayList<>();
  private final StoreUrl url = StoreUrl.parse(RedisServer.shared().url());
  private UsageScript script;
  private UsageStore usage;

  @BeforeAll
  static void startVertx() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void closeVertx() {
    StoreDriver.await(vertx.close());
  }

  @BeforeEach
  void openStore() {
    script = new UsageScript("reader" + prefixes++);
    usage = new RedisUsageStore(link(), script, Clock.system(), new SimpleMeterRegistry());
    StoreDriver.await(usage.start());
  }

  @AfterEach
  void closeAll() {
    opened.forEach(reader -> StoreDriver.await(reader.close()));
    StoreDriver.await(usage.close());
  }

  private UsageLink link() {
    return Stores.usageLink(
        url, script, LuaScript.of(UsageScript.shipped()), vertx, Clock.system());
  }

  private UsageReader reader(String group, String consumer, boolean forgettable) {
    UsageReader reader =
        new GroupUsageReader(
            vertx, link(), script, group, consumer, forgettable, SOON, Clock.system());
    opened.add(reader);
    StoreDriver.await(reader.start());
    return reader;
  }

  private UsageReader reader(String group, String consumer) {
    return reader(group, consumer, false);
  }

  /** Has so many nodes report a unit each. */
  private void report(int from, int to) {
    long start = Clock.system().epochMillis() / MINUTE * MINUTE;
    for (int i = from; i < to; i++) {
      UsageNode node = new UsageNode("node" + i);
      node.count("key" + i, "gold", start, start + MINUTE, new UsageCounts(1, 0, 0, 0, 0));
      StoreDriver.await(usage.report(node.batch()));
    }
  }

  private static UsagePage next(UsageReader reader) {
    return StoreDriver.await(reader.next());
  }

  private static List<String> readAll(UsageReader reader) {
    List<String> keys = new ArrayList<>();
    for (UsagePage page = next(reader); !page.isEmpty(); page = next(reader)) {
      keys.addAll(keys(page));
      StoreDriver.await(reader.acknowledge(page));
    }
    return keys;
  }

  private static List<String> keys(UsagePage page) {
    return page.records().stream().map(UsageRecord::key).toList();
  }

  @Test
  void readersOfAGroupShareWhatThereIs() {
    report(0, 3);
    UsageReader one = reader("a", "one");
    UsageReader two = reader("a", "two");
    UsagePage first = next(one);
    assertThat(keys(first)).containsExactly("key0", "key1", "key2");
    assertThat(next(two).isEmpty()).isTrue();
    StoreDriver.await(one.acknowledge(first));
    report(3, 4);
    assertThat(readAll(two)).containsExactly("key3");
    assertThat(readAll(one)).isEmpty();
  }

  @Test
  void everyGroupReadsEverything() {
    report(0, 2);
    assertThat(readAll(reader("a", "one"))).hasSize(2);
    assertThat(readAll(reader("b", "one"))).hasSize(2);
  }

  @Test
  void whatADeadReaderLeftIsForAnother() {
    report(0, 2);
    UsageReader dead = reader("a", "dead");
    next(dead);
    opened.remove(dead);
    StoreDriver.await(dead.close());
    UsageReader heir = reader("a", "heir");
    List<String> keys = new ArrayList<>();
    Awaitility.await()
        .untilAsserted(
            () -> {
              keys.addAll(readAll(heir));
              assertThat(keys).containsExactly("key0", "key1");
            });
    assertThat(StoreDriver.await(heir.progress()).unacknowledged()).isZero();
  }

  @Test
  void whoComesAgainUnderItsNameGoesOnWhereItWas() {
    report(0, 2);
    next(reader("a", "same"));
    assertThat(readAll(reader("a", "same"))).containsExactly("key0", "key1");
  }

  @Test
  void aReaderThatStillWorksOnAPageIsNotTakenForDead() {
    report(0, 2);
    UsageReader slow = reader("a", "slow");
    UsagePage page = next(slow);
    UsageReader other = reader("a", "other");
    Awaitility.await()
        .during(SOON.multipliedBy(4))
        .atMost(SOON.multipliedBy(40))
        .until(() -> next(other).isEmpty());
    StoreDriver.await(slow.acknowledge(page));
    assertThat(StoreDriver.await(other.progress()).unacknowledged()).isZero();
  }

  @Test
  void aReaderWithoutANameToKeepIsForgotten() {
    report(0, 2);
    UsageReader passing = reader("a", "passing", true);
    readAll(passing);
    UsageReader dying = reader("a", "dying", true);
    report(2, 3);
    next(dying);
    opened.clear();
    StoreDriver.await(passing.close());
    StoreDriver.await(dying.close());
    Object consumers = RedisServer.shared().call("XINFO", "CONSUMERS", script.stream(), "a");
    assertThat(consumers.toString()).contains("dying").doesNotContain("passing");
  }

  @Test
  void whoOnlyLooksLeavesEverythingToOthers() {
    report(0, 2);
    UsageReader looking = new LookingUsageReader(link(), script);
    opened.add(looking);
    StoreDriver.await(looking.start());
    assertThat(readAll(looking)).containsExactly("key0", "key1");
    report(2, 3);
    assertThat(readAll(looking)).containsExactly("key2");
    assertThat(readAll(reader("a", "one"))).containsExactly("key0", "key1", "key2");
  }

  @Test
  void aReaderWhoseConnectionIsKilledGoesOn() {
    report(0, 2);
    UsageReader reader = reader("a", "one");
    UsagePage page = next(reader);
    RedisServer.shared().call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    Awaitility.await()
        .ignoreExceptionsInstanceOf(StoreAwayException.class)
        .until(() -> StoreDriver.await(reader.acknowledge(page).map(true)));
    report(2, 3);
    assertThat(readAll(reader)).containsExactly("key2");
  }

  @Test
  void aGroupThatTheStoreHasLostIsMadeAgain() {
    report(0, 2);
    UsageReader reader = reader("a", "one");
    assertThat(readAll(reader)).hasSize(2);
    RedisServer.shared().call("DEL", script.stream());
    report(2, 3);
    Awaitility.await()
        .ignoreExceptionsInstanceOf(StoreAwayException.class)
        .untilAsserted(() -> assertThat(readAll(reader)).containsExactly("key2"));
  }

  @Test
  void whatIsNoRecordOfOursIsPassedOver() {
    report(0, 1);
    RedisServer.shared().call("XADD", script.stream(), "*", "state", "sealed", "key", "x");
    RedisServer.shared().call("XADD", script.stream(), "*", "hello", "world");
    UsageReader reader = reader("a", "one");
    assertThat(readAll(reader)).containsExactly("key0");
    assertThat(StoreDriver.await(reader.progress()).unacknowledged()).isZero();
  }
}
