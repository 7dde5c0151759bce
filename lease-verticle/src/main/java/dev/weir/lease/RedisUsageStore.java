package dev.weir.lease;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import java.util.List;

/** Usage added up in a Redis. */
final class RedisUsageStore implements UsageStore {
  private final UsageLink link;
  private final UsageScript script;
  private final Clock clock;
  private final UsageMeters meters;

  RedisUsageStore(UsageLink link, UsageScript script, Clock clock, MeterRegistry registry) {
    this.link = link;
    this.script = script;
    this.clock = clock;
    this.meters = new UsageMeters(registry);
  }

  @Override
  public Future<UsageReceipt> report(UsageBatch batch) {
    return link.call(call -> script.addBatch(call, batch))
        .map(UsageScript::answer)
        .onSuccess(meters::answered)
        .map(UsageScript.Answer::receipt);
  }

  @Override
  public Future<List<RecentUsage>> recent(String key) {
    return link.call(call -> script.addRecent(call, key, clock.epochMillis()))
        .map(UsageScript::recent);
  }

  @Override
  public Future<Void> start() {
    return link.start();
  }

  @Override
  public Future<Void> close() {
    meters.close();
    return link.close();
  }
}
