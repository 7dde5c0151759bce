package dev.weir.lease;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;

/**
 * Reads the stream from its first entry to its last and leaves it as it is: what nobody has
 * acknowledged yet.
 */
final class LookingUsageReader implements UsageReader {
  private final UsageLink link;
  private final UsageScript script;
  private String from = "-";

  LookingUsageReader(UsageLink link, UsageScript script) {
    this.link = link;
    this.script = script;
  }

  @Override
  public Future<Void> start() {
    return link.start();
  }

  @Override
  public Future<UsagePage> next() {
    Request range =
        Request.cmd(Command.XRANGE)
            .arg(script.stream())
            .arg(from)
            .arg("+")
            .arg("COUNT")
            .arg(UsageEntries.PER_PAGE);
    return link.send(range).map(UsageEntries::page);
  }

  @Override
  public Future<Void> acknowledge(UsagePage page) {
    if (!page.isEmpty()) {
      from = "(" + page.ids().get(page.ids().size() - 1);
    }
    return Future.succeededFuture();
  }

  @Override
  public Future<UsageProgress> progress() {
    return link.call(script::addSealing)
        .map(UsageScript::answer)
        .map(
            answer ->
                new UsageProgress(answer.nowMillis(), answer.open(), answer.watermarkMillis(), 0));
  }

  @Override
  public Future<Void> close() {
    return link.close();
  }
}
