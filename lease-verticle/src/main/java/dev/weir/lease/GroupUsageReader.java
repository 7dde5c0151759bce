package dev.weir.lease;

import dev.weir.config.Clock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * One of a group of readers, who share the entries of the stream among them.
 *
 * <p>It first reads what it was given before and has not acknowledged, then what others have left
 * behind, then what is new. A call without an answer may have given it entries, so that it begins
 * anew after one. While a page is in its hands it says so again and again, lest another reader take
 * it for dead.
 */
final class GroupUsageReader implements UsageReader {

  /** After which an entry that was read and not acknowledged is given to another reader. */
  static final Duration LEFT_BEHIND = Duration.ofSeconds(30);

  private static final String FROM_THE_FIRST = "0-0";
  private static final String NEW = ">";

  private enum Source {
    OWN,
    OTHERS,
    FRESH
  }

  private final Vertx vertx;
  private final UsageLink link;
  private final UsageScript script;
  private final String group;
  private final String consumer;
  private final boolean forgettable;
  private final Duration leftBehind;
  private final Clock clock;
  private Source source = Source.OWN;
  private boolean joined;
  private String claimedTo = FROM_THE_FIRST;
  private long claimedMicros;
  private OptionalLong holding = OptionalLong.empty();

  /**
   * @param consumer its name in the group
   * @param forgettable whether nobody will come under that name again
   * @param leftBehind after which another reader counts as dead
   */
  GroupUsageReader(
      Vertx vertx,
      UsageLink link,
      UsageScript script,
      String group,
      String consumer,
      boolean forgettable,
      Duration leftBehind,
      Clock clock) {
    this.vertx = vertx;
    this.link = link;
    this.script = script;
    this.group = group;
    this.consumer = consumer;
    this.forgettable = forgettable;
    this.leftBehind = leftBehind;
    this.clock = clock;
  }

  @Override
  public Future<Void> start() {
    return link.start();
  }

  @Override
  public Future<UsagePage> next() {
    Future<?> group = joined ? Future.succeededFuture() : join();
    return group
        .compose(done -> read())
        .onSuccess(this::hold)
        .onFailure(
            failure -> {
              joined = false;
              source = Source.OWN;
            });
  }

  private Future<?> join() {
    return link.call(call -> script.addJoining(call, group)).onSuccess(done -> joined = true);
  }

  private Future<UsagePage> read() {
    return switch (source) {
      case OWN -> orElse(readGroup(FROM_THE_FIRST), Source.OTHERS);
      case OTHERS -> claim();
      case FRESH -> readGroup(NEW).onSuccess(page -> lookAtOthersInTime());
    };
  }

  /** Goes on to {@code next} when there is nothing more where it reads. */
  private Future<UsagePage> orElse(Future<UsagePage> read, Source next) {
    return read.compose(
        page -> {
          if (page.isEmpty()) {
            source = next;
            return read();
          }
          return Future.succeededFuture(page);
        });
  }

  private Future<UsagePage> readGroup(String after) {
    Request read =
        Request.cmd(Command.XREADGROUP)
            .arg("GROUP")
            .arg(group)
            .arg(consumer)
            .arg("COUNT")
            .arg(UsageEntries.PER_PAGE)
            .arg("STREAMS")
            .arg(script.stream())
            .arg(after);
    return link.send(read)
        .map(reply -> reply == null ? UsagePage.EMPTY : UsageEntries.page(reply.get(0).get(1)));
  }

  private Future<UsagePage> claim() {
    Request claim =
        Request.cmd(Command.XAUTOCLAIM)
            .arg(script.stream())
            .arg(group)
            .arg(consumer)
            .arg(leftBehind.toMillis())
            .arg(claimedTo)
            .arg("COUNT")
            .arg(UsageEntries.PER_PAGE);
    return link.send(claim)
        .compose(
            reply -> {
              claimedTo = reply.get(0).toString();
              UsagePage page = UsageEntries.page(reply.get(1));
              if (!page.isEmpty()) {
                return Future.succeededFuture(page);
              }
              if (claimedTo.equals(FROM_THE_FIRST)) {
                claimedMicros = clock.micros();
                source = Source.FRESH;
              }
              return read();
            });
  }

  private void lookAtOthersInTime() {
    if (clock.micros() - claimedMicros > leftBehind.toNanos() / 1000 / 4) {
      source = Source.OTHERS;
    }
  }

  private void hold(UsagePage page) {
    release();
    if (!page.isEmpty()) {
      long timer = vertx.setPeriodic(leftBehind.toMillis() / 3, id -> link.send(claimAgain(page)));
      holding = OptionalLong.of(timer);
    }
  }

  private void release() {
    holding.ifPresent(vertx::cancelTimer);
    holding = OptionalLong.empty();
  }

  /** Says that the page is still being worked on: claims it from itself. */
  private Request claimAgain(UsagePage page) {
    Request claim =
        Request.cmd(Command.XCLAIM).arg(script.stream()).arg(group).arg(consumer).arg(0);
    page.ids().forEach(claim::arg);
    return claim.arg("JUSTID");
  }

  @Override
  public Future<Void> acknowledge(UsagePage page) {
    if (page.isEmpty()) {
      return Future.succeededFuture();
    }
    Request acknowledgement = Request.cmd(Command.XACK).arg(script.stream()).arg(group);
    page.ids().forEach(acknowledgement::arg);
    return link.send(acknowledgement).onSuccess(done -> release()).mapEmpty();
  }

  @Override
  public Future<UsageProgress> progress() {
    return link.call(script::addSealing)
        .map(UsageScript::answer)
        .compose(
            answer ->
                (joined ? Future.succeededFuture() : join())
                    .compose(done -> link.send(pending()))
                    .map(reply -> progress(answer, reply)));
  }

  private Request pending() {
    return Request.cmd(Command.XPENDING).arg(script.stream()).arg(group);
  }

  private static UsageProgress progress(UsageScript.Answer answer, Response pending) {
    return new UsageProgress(
        answer.nowMillis(), answer.open(), answer.watermarkMillis(), pending.get(0).toLong());
  }

  @Override
  public Future<Void> close() {
    release();
    Future<?> left =
        forgettable && joined
            ? link.call(call -> script.addLeaving(call, group, consumer))
            : Future.succeededFuture();
    return left.transform(done -> link.close());
  }
}
