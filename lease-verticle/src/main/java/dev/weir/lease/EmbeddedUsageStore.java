package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Usage of a node alone, added up in its memory for people to look at: the last windows of keys
 * that there is {@linkplain KeyRoom room} for, none older than an hour. There is no stream, and
 * nothing is left when the process ends. All methods take turns, since reports are few.
 */
final class EmbeddedUsageStore implements UsageStore {
  private static final long KEPT_MILLIS = 3_600_000;

  private record Window(String key, String plan, long startMillis, long endMillis) {}

  private final Clock clock;
  private final int most;
  private final Map<Window, UsageCounts> windows = new LinkedHashMap<>();
  private final Map<String, Long> numbers = new HashMap<>();
  private long taken;
  private long sealedUpToMillis;

  /**
   * @param most places of windows
   */
  EmbeddedUsageStore(Clock clock, int most) {
    this.clock = clock;
    this.most = most;
  }

  @Override
  public synchronized Future<UsageReceipt> report(UsageBatch batch) {
    long last = numbers.getOrDefault(batch.incarnation(), 0L);
    if (!batch.reports().isEmpty() && batch.number() > last) {
      last = batch.number();
      batch.reports().forEach(this::add);
    }
    // What other incarnations left behind is reported by this process, which knows of it.
    batch.watermarkMillis().ifPresent(told -> sealedUpToMillis = Math.max(sealedUpToMillis, told));
    if (batch.gone()) {
      numbers.remove(batch.incarnation());
    } else {
      numbers.put(batch.incarnation(), last);
    }
    return Future.succeededFuture(new UsageReceipt(last, sealedUpToMillis, false, false));
  }

  private void add(UsageReport report) {
    long oldest = clock.epochMillis() - KEPT_MILLIS;
    if (report.windowEndMillis() < oldest) {
      return;
    }
    Window window =
        new Window(
            report.key(), report.plan(), report.windowStartMillis(), report.windowEndMillis());
    UsageCounts delta = report.delta();
    UsageCounts told =
        new UsageCounts(
            delta.spent(),
            delta.degraded(),
            delta.denied(),
            delta.wouldDeny(),
            report.total().authorized());
    if (!windows.containsKey(window)) {
      taken += KeyRoom.places(window.key);
    }
    windows.merge(window, told, UsageCounts::plus);
    // They came in the order of their first report, hence about that of their ends.
    Iterator<Window> eldest = windows.keySet().iterator();
    while (eldest.hasNext()) {
      Window next = eldest.next();
      if (next.endMillis >= oldest && taken <= most) {
        return;
      }
      taken -= KeyRoom.places(next.key);
      eldest.remove();
    }
  }

  @Override
  public synchronized Future<List<RecentUsage>> recent(String key) {
    List<RecentUsage> recent =
        windows.entrySet().stream()
            .filter(entry -> entry.getKey().key.equals(key))
            .map(entry -> recent(entry.getKey(), entry.getValue()))
            .sorted(RecentUsage.OLDEST_FIRST)
            .toList();
    return Future.succeededFuture(recent);
  }

  private RecentUsage recent(Window window, UsageCounts counts) {
    return new RecentUsage(
        window.plan,
        window.startMillis,
        window.endMillis,
        counts,
        window.endMillis <= sealedUpToMillis);
  }

  @Override
  public Future<Void> start() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
