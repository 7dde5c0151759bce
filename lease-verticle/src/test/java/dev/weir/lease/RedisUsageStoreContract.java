package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a store of usage on Redis does besides: it makes a stream of records. */
abstract class RedisUsageStoreContract extends UsageStoreContract {
  private static final String STREAM = "weir:usage";
  private static final Duration SETTLE = Duration.ofSeconds(10);
  private static final Duration GONE = Duration.ofSeconds(60);

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private UsageTime redisTime;

  abstract StoreUrl url();

  /** All that make up the store. */
  abstract List<RedisServer> servers();

  abstract RedisTime.Commands commands();

  @Override
  UsageStore open() {
    return open(new UsageScript("weir"));
  }

  private UsageStore open(UsageScript script) {
    redisTime = new UsageTime(commands(), time, script);
    return new RedisUsageStore(UsageTime.link(vertx, url(), script), script, time, registry);
  }

  private void openWith(UsageScript script) {
    closeUsage();
    usage = open(script);
    StoreDriver.await(usage.start());
  }

  @Override
  void tellTime() {
    redisTime.tell();
  }

  private Object call(String... command) {
    try (RedisTime.Commands commands = commands()) {
      return commands.call(STREAM, command);
    }
  }

  @BeforeEach
  void startEmpty() {
    flush();
    // Nodes have been calling for a while.
    UsageNode first = new UsageNode("first");
    bring(first.heartbeat());
    time.advance(SETTLE.dividedBy(2));
    bring(first.heartbeat());
    time.advance(SETTLE.dividedBy(2));
    bring(first.gone());
  }

  private void flush() {
    servers().forEach(server -> server.call("FLUSHALL"));
  }

  /** Entries of the stream with such a state, the oldest first. */
  private List<Map<String, String>> entries(String... states) {
    List<Map<String, String>> entries = new ArrayList<>();
    for (Object entry : (List<?>) call("XRANGE", STREAM, "-", "+")) {
      List<?> texts = (List<?>) ((List<?>) entry).get(1);
      Map<String, String> fields = new LinkedHashMap<>();
      for (int i = 0; i < texts.size(); i += 2) {
        fields.put((String) texts.get(i), (String) texts.get(i + 1));
      }
      if (List.of(states).contains(fields.get("state"))) {
        entries.add(fields);
      }
    }
    return entries;
  }

  private List<Map<String, String>> records() {
    return entries("sealed", "late");
  }

  private void pass(Duration by) {
    time.advance(by);
  }

  private long now() {
    return time.epochMillis();
  }

  @Test
  void aWindowIsSealedOnceWhenAllHaveReportedItsEnd() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(one.count("acme", "gold", start, start + MINUTE, new UsageCounts(7, 2, 3, 1, 20)));
    report(two.count("acme", "gold", start, start + MINUTE, new UsageCounts(5, 0, 0, 0, 30)));
    pass(Duration.ofMinutes(1));
    bring(one.watermark(start + MINUTE));
    bring(two.watermark(start + MINUTE - 1));
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records()).isEmpty();
    bring(two.watermark(now()));
    bring(one.watermark(now()));
    bring(two.watermark(now()));
    assertThat(records())
        .containsExactly(
            Map.ofEntries(
                Map.entry("state", "sealed"),
                Map.entry("key", "acme"),
                Map.entry("plan", "gold"),
                Map.entry("window_start", Long.toString(start)),
                Map.entry("window_end", Long.toString(start + MINUTE)),
                Map.entry("spent", "12"),
                Map.entry("degraded", "2"),
                Map.entry("denied", "3"),
                Map.entry("would_deny", "1"),
                Map.entry("authorized", "30"),
                Map.entry("nodes", "2")));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(RecentUsage::sealed)
        .containsExactly(true);
  }

  @Test
  void noWindowIsSealedBeforeItHasSettled() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    bring(one.watermark(start + 10 * MINUTE));
    while (now() < start + MINUTE) {
      pass(Duration.ofSeconds(1));
      bring(one.heartbeat());
    }
    pass(SETTLE.minusMillis(1));
    bring(one.heartbeat());
    assertThat(records()).isEmpty();
    time.advance(Duration.ofMillis(1));
    assertThat(bring(one.heartbeat()).sealedUpToMillis()).isEqualTo(start + MINUTE);
    assertThat(records()).hasSize(1);
  }

  @Test
  void whoIsNotHeardOfHoldsUpSealingForAMinuteAndNoLonger() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(5)));
    long heard = now();
    while (now() < heard + GONE.toMillis()) {
      assertThat(records()).isEmpty();
      bring(one.watermark(now()));
      pass(Duration.ofSeconds(5));
    }
    pass(Duration.ofMinutes(1));
    bring(one.watermark(now()));
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records()).extracting(record -> record.get("spent")).containsExactly("12");
  }

  @Test
  void whatComesAfterTheSealIsLateAndOnlyTheDifference() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(two.count("acme", "gold", start, start + MINUTE, new UsageCounts(5, 1, 0, 0, 10)));
    sealWithout(one);
    report(two.count("acme", "gold", start, start + MINUTE, new UsageCounts(3, 2, 4, 0, 12)));
    report(two);
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    report(one.count("acme", "free", start, start + MINUTE, spent(2)));
    assertThat(records())
        .extracting(
            record -> record.get("state"),
            record -> record.get("plan"),
            record -> record.get("spent"),
            record -> record.get("degraded"),
            record -> record.get("denied"),
            record -> record.get("authorized"),
            record -> record.get("nodes"))
        .containsExactly(
            tuple("sealed", "gold", "5", "1", "0", "10", "1"),
            tuple("late", "gold", "3", "2", "4", "2", "1"),
            tuple("late", "gold", "1", "0", "0", "0", "1"),
            tuple("late", "free", "2", "0", "0", "0", "1"));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(RecentUsage::plan, recent -> recent.counts().spent())
        .containsExactly(tuple("gold", 9L));
  }

  /** Has all windows sealed that began before now, whoever counts in them. */
  private void sealWithout(UsageNode caller) {
    for (int second = 0; second < 140; second += 5) {
      pass(Duration.ofSeconds(5));
      bring(caller.watermark(now()));
    }
  }

  @Test
  void whoSaysThatItIsGoneHoldsUpNothing() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(two.count("acme", "gold", now() - MINUTE, now(), spent(5)));
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records()).isEmpty();
    bring(two.gone());
    bring(two.gone());
    assertThat(records()).hasSize(1);
    assertThat(bring(two.gone()).number()).isEqualTo(1);
  }

  @Test
  void someoneWhoOnlyAsksHasWindowsSealed() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(5)));
    pass(Duration.ofMinutes(3));
    bring(sealing());
    assertThat(records()).hasSize(1);
  }

  private static UsageBatch sealing() {
    return new UsageNode("").heartbeat();
  }

  @Test
  void afterAnAbsenceOfTheStoreNodesHaveTimeToTellWhatTheyKnow() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(5)));
    pass(Duration.ofMinutes(10));
    bring(one.watermark(now()));
    pass(Duration.ofSeconds(3));
    report(two.count("acme", "gold", start, start + MINUTE, spent(4)));
    bring(two.watermark(now()));
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records())
        .extracting(record -> record.get("state"), record -> record.get("spent"))
        .containsExactly(tuple("sealed", "16"));
  }

  @Test
  void aStoreThatLostItsDataIsToldAllThatIsNotSealedAgain() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(two.count("before", "gold", now() - MINUTE, now(), spent(100)));
    pass(SETTLE);
    UsageBatch seen = two.watermark(now());
    two.acknowledge(seen, bring(seen));
    assertThat(records()).hasSize(1);
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(5)));
    flush();
    for (UsageNode node : List.of(one, two)) {
      node.count("acme", "gold", start, start + MINUTE, spent(10));
      UsageReceipt receipt = report(node);
      assertThat(receipt.lost()).isTrue();
      UsageBatch again = node.everything();
      assertThat(node.acknowledge(again, bring(again)).lost()).isFalse();
    }
    sealWithout(one);
    assertThat(records())
        .extracting(record -> record.get("key"), record -> record.get("spent"))
        .containsExactly(tuple("acme", "33"));
  }

  @Test
  void aHeartbeatIsToldOfALossToo() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    assertThat(bring(one.heartbeat()).lost()).isFalse();
    flush();
    assertThat(bring(one.heartbeat()).lost()).isTrue();
  }

  @Test
  void aStoreThatLostTheLastBatchesIsToldThemAgainAndCountsThemOnce() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    Object nodes = call("HGET", name("nodes"), "one");
    String open = name("open:" + (start + MINUTE) + ":" + start + ":gold:acme");
    Object total = call("HGET", open, "total");
    Object own = call("HGET", open, "2:0");
    report(one.count("acme", "gold", start, start + MINUTE, spent(5)));
    call("HSET", name("nodes"), "one", (String) nodes);
    call("HSET", open, "total", (String) total, "2:0", (String) own);
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    UsageReceipt receipt = bring(one.heartbeat());
    assertThat(receipt.number()).isEqualTo(3);
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(recent -> recent.counts().spent())
        .containsExactly(13L);
  }

  @Test
  void nothingIsSealedBeforeWhatWasLostIsToldAgain() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    Object nodes = call("HGET", name("nodes"), "one");
    String open = name("open:" + (start + MINUTE) + ":" + start + ":gold:acme");
    Object total = call("HGET", open, "total");
    Object own = call("HGET", open, "2:0");
    report(one.count("acme", "gold", start, start + MINUTE, spent(5)));
    for (int i = 0; i < 15; i++) {
      time.advance(Duration.ofSeconds(5));
      bring(one.heartbeat());
    }
    call("HSET", name("nodes"), "one", (String) nodes);
    call("HSET", open, "total", (String) total, "2:0", (String) own);

    assertThat(bring(one.watermark(start + MINUTE)).lost()).isTrue();
    assertThat(records()).isEmpty();
    UsageBatch again = one.everything();
    one.acknowledge(again, bring(again));
    bring(one.watermark(start + MINUTE));
    assertThat(records()).extracting(record -> record.get("spent")).containsExactly("12");
  }

  private static String name(String of) {
    return "weir:{" + STREAM + "}:" + of;
  }

  @Test
  void aCountThatIsLowerThanBeforeTakesNothingBack() {
    UsageCounts ten = spent(10);
    bring(batch(1, 0, ten));
    bring(batch(2, 0, spent(4)));
    bring(batch(3, 0, spent(11)));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(recent -> recent.counts().spent())
        .containsExactly(11L);
  }

  private UsageBatch batch(long number, long entry, UsageCounts total) {
    return new UsageBatch(
        "one",
        "node",
        number,
        List.of(
            new UsageReport(
                entry, "acme", "gold", start, start + MINUTE, total, UsageCounts.NONE, false)),
        OptionalLong.empty(),
        false,
        0);
  }

  @Test
  void countsBeyondWhatADoubleHoldsAddUpToTheUnit() {
    long high = (1L << 61) + 1;
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    report(one.count("acme", "gold", start, start + MINUTE, spent(high)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(high)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(1_000_000_001)));
    report(two.count("acme", "gold", start, start + MINUTE, spent(999_999_999)));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(recent -> recent.counts().spent())
        .containsExactly(2 * high + 2_000_000_000);
  }

  @Test
  void theStreamIsTrimmedBehindWhatAllGroupsHaveAcknowledged() {
    UsageNode one = new UsageNode("one");
    call("XGROUP", "CREATE", STREAM, "a", "0", "MKSTREAM");
    call("XGROUP", "CREATE", STREAM, "b", "0");
    for (int i = 0; i < 300; i++) {
      report(one.count("key" + i, "gold", start, start + MINUTE, spent(1)));
    }
    bring(one.heartbeat());
    assertThat(call("XLEN", STREAM)).isEqualTo(300L);
    List<String> all = read("a", 300);
    acknowledge("a", all);
    List<String> some = read("b", 300);
    acknowledge("b", some.subList(0, 150));
    acknowledge("b", some.subList(200, 300));
    bring(one.heartbeat());
    assertThat((Long) call("XLEN", STREAM)).isBetween(150L, 299L);
    assertThat(call("XRANGE", STREAM, some.get(150), some.get(150)).toString()).contains("key150");
    acknowledge("b", some.subList(150, 200));
    bring(one.heartbeat());
    assertThat((Long) call("XLEN", STREAM)).isLessThan(150L);
  }

  private List<String> read(String group, int count) {
    Object reply =
        call(
            "XREADGROUP",
            "GROUP",
            group,
            "c",
            "COUNT",
            Integer.toString(count),
            "STREAMS",
            STREAM,
            ">");
    List<String> ids = new ArrayList<>();
    for (Object entry : (List<?>) ((List<?>) ((List<?>) reply).get(0)).get(1)) {
      ids.add((String) ((List<?>) entry).get(0));
    }
    return ids;
  }

  private void acknowledge(String group, List<String> ids) {
    List<String> command = new ArrayList<>(List.of("XACK", STREAM, group));
    command.addAll(ids);
    call(command.toArray(String[]::new));
  }

  @Test
  void aFullStreamCountsNothingUntilItsReadersCatchUp() {
    openWith(new UsageScript("weir", 120, 1000));
    call("XGROUP", "CREATE", STREAM, "a", "0", "MKSTREAM");
    UsageNode one = new UsageNode("one");
    for (int i = 0; i < 120; i++) {
      assertThat(report(one.count("key" + i, "gold", start, start + MINUTE, spent(1))).full())
          .isFalse();
    }
    UsageReceipt refused = report(one.count("more", "gold", start, start + MINUTE, spent(1)));
    assertThat(refused).isEqualTo(new UsageReceipt(120, refused.sealedUpToMillis(), false, true));
    pass(Duration.ofMinutes(2));
    bring(one.watermark(now()));
    assertThat(call("XLEN", STREAM)).isEqualTo(120L);
    acknowledge("a", read("a", 120));
    assertThat(report(one).full()).isFalse();
    assertThat(StoreDriver.await(usage.recent("more"))).hasSize(1);
  }

  @Test
  void asLongAsNobodyReadsTheOldestGoAndAreCounted() {
    openWith(new UsageScript("weir", 200, 1000));
    UsageNode one = new UsageNode("one");
    for (int i = 0; i < 400; i++) {
      report(one.count("key" + i, "gold", start, start + MINUTE, spent(1)));
    }
    double length = ((Long) call("XLEN", STREAM)).doubleValue();
    assertThat(length).isBetween(200.0, 300.0);
    assertThat(registry.get("weir.usage.stream.dropped").counter().count()).isEqualTo(400 - length);
    assertThat(registry.get("weir.usage.stream.entries").gauge().value()).isEqualTo(length);
    assertThat(registry.get("weir.usage.windows.open").gauge().value()).isEqualTo(400);
  }

  @Test
  void reportsLeaveRoomForRecords() {
    openWith(new UsageScript("weir", 1000, 10));
    UsageNode one = new UsageNode("one");
    for (int i = 0; i < 30; i++) {
      report(one.count("key" + i, "gold", now() - MINUTE, now(), spent(1)));
    }
    assertThat(entries("report")).hasSize(10);
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records()).hasSize(30);
  }

  @Test
  void reportsTellWhatTheirEntryHasCountedAndAllTogether() {
    report(new UsageNode("one").count("acme", "gold", start, start + MINUTE, spent(7)));
    report(new UsageNode("two").count("acme", "gold", start, start + MINUTE, spent(5)));
    assertThat(entries("report"))
        .extracting(
            report -> report.get("incarnation"),
            report -> report.get("spent"),
            report -> report.get("all_spent"),
            report -> report.get("all_nodes"))
        .containsExactly(tuple("one", "7", "7", "1"), tuple("two", "5", "12", "2"));
  }

  @Test
  void aBacklogIsSealedInSeveralCalls() {
    UsageNode one = new UsageNode("one");
    for (int i = 0; i < 500; i++) {
      one.count("key" + i, "gold", now() - MINUTE, now(), spent(1));
    }
    report(one);
    pass(SETTLE);
    bring(one.watermark(now()));
    assertThat(records()).hasSizeBetween(1, 100);
    for (int call = 0; call < 10; call++) {
      bring(one.heartbeat());
    }
    assertThat(records()).hasSize(500);
    assertThat(records()).extracting(record -> record.get("key")).doesNotHaveDuplicates();
  }

  @Test
  void everyNameHasATimeToLive() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    bring(new UsageNode("two").gone());
    List<Object> names = new ArrayList<>();
    servers().forEach(server -> names.addAll((List<?>) server.call("KEYS", "*")));
    assertThat(names).hasSize(9);
    for (Object name : names) {
      if (!name.toString().startsWith("time:")) {
        assertThat((Long) call("PTTL", (String) name)).as("%s", name).isPositive();
        assertThat((String) name).startsWith("weir:");
      }
    }
  }

  @Test
  void whatIsLeftOfLongGoneIncarnationsIsForgotten() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    bring(new UsageNode("two").gone());
    bring(sealing());
    assertThat(incarnations()).contains("one", "two");
    pass(Duration.ofDays(2));
    bring(sealing());
    assertThat(incarnations()).contains("one").doesNotContain("two");
    pass(Duration.ofDays(400));
    bring(sealing());
    assertThat(incarnations()).isEmpty();
  }

  private List<String> incarnations() {
    return ((List<?>) call("HKEYS", name("nodes"))).stream().map(Object::toString).toList();
  }

  @Test
  void aScriptThatIsFlushedIsBroughtAgain() {
    servers().forEach(server -> server.call("SCRIPT", "FLUSH"));
    UsageNode one = new UsageNode("one");
    assertThat(report(one.count("acme", "gold", start, start + MINUTE, spent(7))).number())
        .isEqualTo(1);
  }
}
