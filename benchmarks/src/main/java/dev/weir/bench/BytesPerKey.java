package dev.weir.bench;

import dev.weir.config.Clock;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;

/**
 * What a node's heap takes for each key that it holds permits of, beside the text of the key, which
 * whoever asks has anyway.
 */
final class BytesPerKey implements Section {

  /** The last of them refills a lease that has begun to grow. */
  private static final int CHECKS_EACH = 3;

  private static final int COLLECTIONS = 3;

  @Override
  public String name() {
    return "bytes_per_key";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Keys keys = new Keys(effort.keys());
    try (Contender node =
        WeirInProcess.open(keys.count(), GrantingStore.ofWhatIsAsked(), Clock.system())) {
      long before = heapBytes();
      for (int check = 0; check < CHECKS_EACH; check++) {
        for (int key = 0; key < keys.count(); key++) {
          node.decide(keys.kept(key));
        }
      }
      results.put(name(), (heapBytes() - before) / (double) keys.count());
    }
  }

  private static long heapBytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
