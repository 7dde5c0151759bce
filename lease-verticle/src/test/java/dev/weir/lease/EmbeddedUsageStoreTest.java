package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class EmbeddedUsageStoreTest extends UsageStoreContract {

  private static final int WINDOWS = 1_000;

  @Override
  UsageStore open() {
    return new EmbeddedUsageStore(time, WINDOWS);
  }

  @Test
  void windowsOfMoreThanAnHourAgoAreForgotten() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    time.advance(Duration.ofMinutes(62));
    report(one.count("other", "gold", start + 62 * MINUTE, start + 63 * MINUTE, spent(1)));
    assertThat(StoreDriver.await(usage.recent("acme"))).isEmpty();
    assertThat(StoreDriver.await(usage.recent("other"))).hasSize(1);
  }

  @Test
  void theOldestOfTooManyWindowsAreForgotten() {
    UsageNode one = new UsageNode("one");
    for (int key = 0; key < WINDOWS + 10; key++) {
      one.count("key" + key, "gold", start, start + MINUTE, spent(1));
    }
    report(one);
    report(one.count("last", "gold", start, start + MINUTE, spent(1)));
    assertThat(StoreDriver.await(usage.recent("last"))).hasSize(1);
    long kept = 0;
    for (int key = 0; key < 100; key++) {
      kept += StoreDriver.await(usage.recent("key" + key)).size();
    }
    assertThat(kept).isLessThan(100);
  }

  @Test
  void windowsBeforeTheWatermarkAreSealed() {
    UsageNode one = new UsageNode("one");
    report(one.count("acme", "gold", start, start + MINUTE, spent(1)));
    bring(one.watermark(start + MINUTE));
    assertThat(StoreDriver.await(usage.recent("acme")))
        .extracting(RecentUsage::sealed)
        .containsExactly(true);
  }
}
