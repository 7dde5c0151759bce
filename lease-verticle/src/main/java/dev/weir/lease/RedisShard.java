package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.lease.RefillOutcome.Unavailable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Redis node: collects refills, sends them as few script calls, and stays connected.
 *
 * <p>Refills that arrive in one turn of the event loop leave together at its end. While calls are
 * in flight, what arrives is collected and leaves when one returns: the busier the server, the
 * larger the calls, up to {@value #REFILLS_PER_CALL} refills, with at most {@value
 * #CALLS_IN_FLIGHT} calls in flight; beyond that only the wait grows. While there is no connection,
 * or the {@link Breaker} is open, nothing is collected: every refill is unavailable at once.
 *
 * <p>Owned by the context on which it is started; {@link #isHealthy} may be read from any thread.
 */
final class RedisShard {
  static final int REFILLS_PER_CALL = 256;
  static final int REFILLS_WAITING = 32_768;

  private static final Logger LOG = LoggerFactory.getLogger(RedisShard.class);

  private static final Pattern HISTORY = Pattern.compile("master_replid:(\\w+)");

  private record Waiting(RedisNodes.Errand errand, Promise<RefillOutcome> outcome) {}

  /**
   * How many calls may be in flight.
   *
   * @param eager with fewer than these in flight, what arrives leaves at the end of the turn; with
   *     as many, it is collected until one returns
   * @param most beyond which all waits
   */
  record Window(int eager, int most) {
    /** One call carries any keys, so that it pays to collect them. */
    static final Window ONE_NODE = new Window(1, 4);

    /**
     * A call of a cluster carries keys of one slot, most often one key; there is little to collect.
     */
    static final Window CLUSTER = new Window(64, 64);
  }

  private final Vertx vertx;
  private final HeldLink link;
  private final String name;
  private final Window window;
  private final Runnable onTrouble;
  private final IntFunction<String> epochTag;
  private final RefillScript script;
  private final StoreEpochs epochs;
  private final Clock clock;
  private final Breaker breaker;
  private final ShardMeters meters;

  /** By slot, the slots in the order in which their turn comes. */
  private final Map<Integer, Deque<Waiting>> waiting = new LinkedHashMap<>();

  private int waitingCount;
  private int callsInFlight;
  private int lastSlot;
  private boolean flushDue;
  private boolean watching;
  private String leftAlone = "";
  private OptionalLong probeTimer = OptionalLong.empty();
  private boolean connectedBefore;
  private boolean lossLogged;

  /** The server's name for the history of its data, of which it begins one as a master. */
  private String history = "";

  private volatile boolean connected;

  /**
   * @param place where to connect to, asked each time
   * @param name of the node, for log and metrics
   * @param epochTag of a slot, which the name of the mark of its epoch has
   * @param onTrouble run when the connection is lost, the breaker opens, or the node says that it
   *     has not the slot
   */
  RedisShard(
      StoreContext context,
      Supplier<Future<RedisOptions>> place,
      String name,
      Window window,
      IntFunction<String> epochTag,
      Runnable onTrouble) {
    this.vertx = context.vertx();
    this.name = name;
    this.window = window;
    this.epochTag = epochTag;
    this.onTrouble = onTrouble;
    this.script = context.script();
    this.epochs = context.epochs();
    this.clock = context.clock();
    this.link = new HeldLink(vertx, place, clock, context.random(), new Connection());
    this.breaker = new Breaker(clock, context.random(), context.timeout(), new Trouble());
    this.meters = new ShardMeters(context.registry(), name, () -> connected, breaker::isOpen);
  }

  /** Connects, and again for as long as the shard is not closed; tells of the first attempt. */
  Future<Void> start() {
    return link.start()
        .recover(
            failure ->
                Future.failedFuture(
                    VertxException.noStackTrace(name + ": " + failure.getMessage())));
  }

  /** Whether it is connected and answers in time. */
  boolean isHealthy() {
    return connected && !breaker.isOpen();
  }

  /** Does an errand for a key of {@code slot}; those of one slot are done in order. */
  Future<RefillOutcome> refill(int slot, RedisNodes.Errand errand) {
    if (!connected) {
      return Future.succeededFuture(new Unavailable("not connected to " + name, true));
    }
    if (breaker.isOpen()) {
      return Future.succeededFuture(new Unavailable(leftAlone, true));
    }
    if (waitingCount >= REFILLS_WAITING) {
      return Future.succeededFuture(new Unavailable("too many refills wait for " + name, true));
    }
    Promise<RefillOutcome> outcome = Promise.promise();
    waiting.computeIfAbsent(slot, s -> new ArrayDeque<>()).add(new Waiting(errand, outcome));
    waitingCount++;
    if (callsInFlight < window.eager && !flushDue) {
      flushDue = true;
      vertx
          .getOrCreateContext()
          .runOnContext(
              turn -> {
                flushDue = false;
                flush();
              });
    }
    return outcome.future();
  }

  private void flush() {
    link.open()
        .ifPresent(
            open -> {
              while (callsInFlight < window.most && waitingCount > 0) {
                call(open);
              }
            });
  }

  private void call(RedisLink open) {
    List<Waiting> batch = new ArrayList<>();
    int slot = waiting.keySet().iterator().next();
    Deque<Waiting> ofSlot = waiting.remove(slot);
    while (batch.size() < REFILLS_PER_CALL && !ofSlot.isEmpty()) {
      batch.add(ofSlot.poll());
    }
    waitingCount -= batch.size();
    if (!ofSlot.isEmpty()) {
      waiting.put(slot, ofSlot);
    }
    lastSlot = slot;
    call(open, breaker.sent(batch.size()), slot, batch);
  }

  private void call(RedisLink open, Breaker.Call judged, int slot, List<Waiting> batch) {
    callsInFlight++;
    watch();
    long started = clock.micros();
    run(open, slot, batch)
        .onComplete(
            answers -> {
              callsInFlight--;
              proved();
              breaker.answered(judged);
              meters.called(clock.micros() - started, batch.size());
              for (int i = 0; i < batch.size(); i++) {
                batch.get(i).outcome.complete(answers.get(i));
              }
              flush();
            },
            cause -> {
              callsInFlight--;
              StoreFailure failure = StoreFailure.of(cause);
              if (failure.kind() == StoreFailure.Kind.CONNECTION_LOST) {
                open.lose(cause);
              }
              if (failure.kind() == StoreFailure.Kind.ELSEWHERE) {
                breaker.answered(judged);
                onTrouble.run();
              } else {
                breaker.failed(judged, failure.reason());
              }
              RefillOutcome unavailable =
                  new Unavailable(name + ": " + failure.reason(), failure.unsent());
              batch.forEach(each -> each.outcome.complete(unavailable));
              flush();
            });
  }

  /** Has the breaker look at what is in flight, for as long as anything is. */
  private void watch() {
    if (watching) {
      return;
    }
    watching = true;
    vertx.setTimer(
        breaker.lookMillis(),
        id -> {
          watching = false;
          if (breaker.look()) {
            watch();
          }
        });
  }

  /** A call without refills, of a slot that the node has, or had. */
  private void probe() {
    link.open()
        .ifPresent(
            open -> breaker.probe().ifPresent(judged -> call(open, judged, lastSlot, List.of())));
  }

  /** What the breaker finds. */
  private final class Trouble implements Breaker.Owner {
    @Override
    public void opened(String reason, long pauseMillis, boolean again) {
      leftAlone = name + " is left alone: " + reason;
      if (!again) {
        LOG.warn("{}; probed until it answers in time", leftAlone);
      }
      probeTimer = OptionalLong.of(vertx.setTimer(pauseMillis, id -> probe()));
      failWaiting(leftAlone);
      onTrouble.run();
    }

    @Override
    public void recovered() {
      LOG.info("{} answers in time again", name);
    }
  }

  /** One call, or two if the first one finds that the store has lost its data. */
  private Future<List<RefillOutcome>> run(RedisLink open, int slot, List<Waiting> batch) {
    long number = epochs.number(slot, history);
    RefillScript.Epoch epoch =
        new RefillScript.Epoch(epochTag.apply(slot), epochs.mark(slot), epochs.proposal(), number);
    List<RefillScript.Step> steps = batch.stream().map(each -> each.errand.at(number)).toList();
    return open.send(script.callLoaded(epoch, steps))
        .recover(
            failure ->
                StoreFailure.of(failure).kind() == StoreFailure.Kind.SCRIPT_MISSING
                    ? open.send(script.callWithText(epoch, steps))
                    : Future.failedFuture(failure))
        .compose(
            reply -> {
              Optional<String> other = RefillScript.otherMark(reply);
              if (other.isPresent() && isLost(slot, epoch, other.get())) {
                return run(open, slot, batch);
              }
              return Future.succeededFuture(script.read(epoch, steps, reply));
            });
  }

  /** Whether the script found another mark than that of the call, so that it did nothing. */
  private boolean isLost(int slot, RefillScript.Epoch told, String mark) {
    if (epochs.found(slot, mark)) {
      LOG.warn("{} has lost its data; what this node knows of it is carried over", name);
    }
    return !told.mark().isEmpty();
  }

  /** What becomes of the link. */
  private final class Connection implements HeldLink.Owner {
    @Override
    public Request first() {
      return script.load();
    }

    @Override
    public Future<Void> greet(RedisLink next) {
      return next.send(Request.cmd(Command.INFO).arg("replication"))
          .map(Response::toString)
          // Who may not ask counts all histories as one.
          .otherwise("")
          .compose(
              info -> {
                if (info.contains("role:slave")) {
                  return Future.failedFuture(VertxException.noStackTrace("it is a replica"));
                }
                history =
                    HISTORY.matcher(info).results().findFirst().map(id -> id.group(1)).orElse("");
                return Future.succeededFuture();
              });
    }

    @Override
    public void opened() {
      breaker.reset();
      connected = true;
      if (!connectedBefore) {
        connectedBefore = true;
        LOG.info("connected to {}", name);
      }
    }

    @Override
    public void lost(StoreFailure failure) {
      connected = false;
      breaker.reset();
      probeTimer.ifPresent(vertx::cancelTimer);
      if (!lossLogged) {
        lossLogged = true;
        LOG.warn("not connected to {}: {}; trying again until it answers", name, failure.reason());
      }
      failWaiting(name + ": " + failure.reason());
      onTrouble.run();
    }
  }

  private void proved() {
    link.proved();
    if (lossLogged) {
      lossLogged = false;
      LOG.info("{} answers again", name);
    }
  }

  private void failWaiting(String reason) {
    RefillOutcome unavailable = new Unavailable(reason, true);
    List<Deque<Waiting>> slots = List.copyOf(waiting.values());
    waiting.clear();
    waitingCount = 0;
    slots.forEach(ofSlot -> ofSlot.forEach(next -> next.outcome.complete(unavailable)));
  }

  Future<Void> close() {
    connected = false;
    meters.close();
    Future<Void> ended = link.close("closing");
    probeTimer.ifPresent(vertx::cancelTimer);
    failWaiting(name + ": closing");
    return ended;
  }
}
