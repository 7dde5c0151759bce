package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.vertx.core.Vertx;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store of usage does. */
abstract class UsageStoreContract {
  static final long MINUTE = 60_000;

  static Vertx vertx;

  final VirtualClock time = new VirtualClock();
  UsageStore usage;

  /** Begins at a full minute. */
  final long start = time.epochMillis() / MINUTE * MINUTE;

  abstract UsageStore open();

  /** The store is about to be called. */
  void tellTime() {}

  @BeforeAll
  static void startVertx() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void closeVertx() {
    StoreDriver.await(vertx.close());
  }

  @BeforeEach
  void openUsage() {
    usage = open();
    StoreDriver.await(usage.start());
  }

  @AfterEach
  void closeUsage() {
    StoreDriver.await(usage.close());
  }

  static UsageCounts spent(long spent) {
    return new UsageCounts(spent, 0, 0, 0, 0);
  }

  UsageReceipt bring(UsageBatch batch) {
    tellTime();
    return StoreDriver.await(usage.report(batch));
  }

  /** Brings what a node has to say, and tells the node. */
  UsageReceipt report(UsageNode node) {
    UsageBatch batch = node.batch();
    return node.acknowledge(batch, bring(batch));
  }

  @Test
  void whatNodesReportAddsUp() {
    UsageNode one = new UsageNode("one");
    UsageNode two = new UsageNode("two");
    UsageCounts counts = new UsageCounts(7, 2, 3, 1, 20);
    report(one.count("acme", "gold", start, start + MINUTE, counts));
    report(two.count("acme", "gold", start, start + MINUTE, new UsageCounts(5, 0, 0, 0, 30)));
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .containsExactly(
            new RecentUsage(
                "gold", start, start + MINUTE, new UsageCounts(13, 2, 3, 1, 30), false));
  }

  @Test
  void theSameBatchCountsOnce() {
    UsageBatch batch =
        new UsageNode("one").count("acme", "gold", start, start + MINUTE, spent(7)).batch();
    assertThat(bring(batch).number()).isEqualTo(1);
    assertThat(bring(batch).number()).isEqualTo(1);
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(recent -> recent.counts().spent())
        .containsExactly(7L);
  }

  @Test
  void anIncarnationIsToldWhichOfItsBatchesCounted() {
    UsageNode one = new UsageNode("one");
    assertThat(bring(one.heartbeat()).number()).isZero();
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    assertThat(bring(new UsageNode("one").heartbeat()).number()).isEqualTo(2);
    assertThat(bring(new UsageNode("two").heartbeat()).number()).isZero();
  }

  @Test
  void keysPlansAndWindowsAreApart() {
    UsageNode one = new UsageNode("one");
    one.count("acme", "gold", start, start + MINUTE, spent(1));
    one.count("acme", "free", start, start + MINUTE, spent(2));
    one.count("acme", "gold", start + MINUTE, start + 2 * MINUTE, spent(3));
    one.count("acme:gold", "x", start, start + MINUTE, spent(4));
    one.count("{a}%\n", "y:z", start, start + MINUTE, spent(5));
    report(one);
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(
            RecentUsage::plan, RecentUsage::windowStartMillis, recent -> recent.counts().spent())
        .containsExactly(
            tuple("free", start, 2L), tuple("gold", start, 1L), tuple("gold", start + MINUTE, 3L));
    assertThat(StoreDriver.await(usage.recent("{a}%\n")))
        .extracting(RecentUsage::plan, recent -> recent.counts().spent())
        .containsExactly(tuple("y:z", 5L));
    assertThat(StoreDriver.await(usage.recent("nobody"))).isEmpty();
  }

  @Test
  void whatHasNotChangedIsNoHarmWhenItIsReportedAgain() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(7)));
    UsageBatch again = one.everything();
    one.acknowledge(again, bring(again));
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(recent -> recent.counts().spent())
        .containsExactly(8L);
  }
}
