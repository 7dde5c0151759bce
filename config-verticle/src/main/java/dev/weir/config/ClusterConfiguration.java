package dev.weir.config;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration that the nodes of a cluster share. Changes are made in {@link SharedState}, one
 * after another by one thread, those together that wait at the same time, and come back, as those
 * of other nodes do, by {@link SharedReader}.
 */
final class ClusterConfiguration implements Configuration {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterConfiguration.class);

  private static final int MOST_WAITING_CHANGES = 1024;
  private static final int MOST_CHANGES_AT_ONCE = 256;
  private static final long DEADLINE_SECONDS = 10;

  /** Of very many keys at once. */
  private static final long LONG_DEADLINE_SECONDS = 60;

  private final HazelcastInstance hazelcast;
  private final WorkerExecutor writer;
  private final SharedState shared;
  private final LiveSnapshot live;
  private final LossReport losses;
  private final SharedReader reader;
  private final UUID lifecycleListener;
  private final BlockingQueue<SharedState.Waiting<?>> changes =
      new ArrayBlockingQueue<>(MOST_WAITING_CHANGES);

  private ClusterConfiguration(
      HazelcastInstance hazelcast,
      WorkerExecutor writer,
      SharedState shared,
      LiveSnapshot live,
      LossReport losses,
      SharedReader reader) {
    this.hazelcast = hazelcast;
    this.writer = writer;
    this.shared = shared;
    this.live = live;
    this.losses = losses;
    this.reader = reader;
    lifecycleListener =
        hazelcast
            .getLifecycleService()
            .addLifecycleListener(
                event -> {
                  if (event.getState() == LifecycleState.MERGED) {
                    reader.everythingChanged();
                  }
                });
  }

  /**
   * Joins the shared configuration, or begins it if this node is the first. Blocks.
   *
   * @param saved what this node knew when it stopped
   * @param self tells this node from all others
   * @param clock by which overrides end
   * @param writer has one thread, so that the changes made here keep their order
   * @param executor has one thread, that reads; it may be shared with other short tasks
   */
  static ClusterConfiguration join(
      Optional<ConfigState> saved,
      Seed seed,
      HazelcastInstance hazelcast,
      String self,
      Clock clock,
      WorkerExecutor writer,
      ScheduledExecutorService executor)
      throws Exception {
    ChangeSignal signal = new ChangeSignal();
    SharedState shared = new SharedState(hazelcast, clock, self, signal::document, signal::keys);
    Optional<ConfigState> mine = saved.map(state -> state.unendedAt(clock.epochMillis()));
    SharedState.Joined joined = shared.join(mine, seed);
    LiveSnapshot live = new LiveSnapshot(joined.now().unendedAt(clock.epochMillis()));
    LossReport losses = new LossReport(shared.document()::claims);
    SharedReader reader = new SharedReader(shared, live, losses, clock, executor);
    LOG.info("configuration version {} joined", live.state().version());
    mine.ifPresent(state -> losses.tellIfDeparted(state, live.state()));
    joined.before().ifPresent(state -> losses.tellIfDeparted(state, live.state()));
    // The listeners were first, so nothing is missed; what they saw is read now.
    signal.startTelling(reader);
    return new ClusterConfiguration(hazelcast, writer, shared, live, losses, reader);
  }

  @Override
  public ConfigSnapshot current() {
    return live.current();
  }

  /** What is in force, whole. */
  ConfigState state() {
    return live.state();
  }

  @Override
  public void onChange(Consumer<ConfigSnapshot> listener) {
    live.onChange(listener);
  }

  /** Has {@code listener} be told of changes that are lost, on any thread. */
  void onLoss(Consumer<LostChange> listener) {
    losses.onLoss(listener);
  }

  /** Tells how many nodes there are now. */
  void nodes(int count) {
    reader.nodes(count);
  }

  @Override
  public Future<Optional<Plan>> putPlan(Plan plan) {
    return change(changes -> changes.change(before -> before.putPlan(plan)).plan(plan.name()));
  }

  @Override
  public Future<Regions> putRegions(String region, RegionWeights table) {
    return changeRegions(before -> before.putRegions(region, table));
  }

  @Override
  public Future<Regions> give(String other, Map<String, Long> totals) {
    return changeRegions(before -> before.give(other, totals));
  }

  @Override
  public Future<Regions> learn(String other, Map<String, Long> received, Map<String, Long> given) {
    return changeRegions(before -> before.learn(other, received, given));
  }

  private Future<Regions> changeRegions(UnaryOperator<ConfigDocument> change) {
    return change(changes -> changes.change(change).regions());
  }

  @Override
  public Future<Plan> deletePlan(String name) {
    return change(
        changes ->
            changes
                .change(before -> before.deletePlan(name, changes.isAssigned(name)))
                .plan(name)
                .orElseThrow());
  }

  @Override
  public Future<Optional<Long>> putEndpoint(String endpoint, long weight) {
    return change(
        changes -> changes.change(before -> before.putEndpoint(endpoint, weight)).weight(endpoint));
  }

  @Override
  public Future<KeySetting> setKey(String key, KeySetting setting) {
    return change(changes -> changes.set(key, setting));
  }

  @Override
  public Future<Integer> setKeys(List<KeyLine> lines) {
    return change(LONG_DEADLINE_SECONDS, changes -> changes.set(lines));
  }

  @Override
  public Future<KeySetting> clearKey(String key) {
    return change(changes -> changes.clear(key));
  }

  /** Ends the listeners. Blocks. The executors are the caller's to end. */
  void close() {
    reader.close();
    try {
      hazelcast.getLifecycleService().removeLifecycleListener(lifecycleListener);
      shared.close();
    } catch (HazelcastInstanceNotActiveException e) {
      LOG.debug("Hazelcast has gone first, and the listeners with it");
    }
  }

  private <T> Future<T> change(Function<SharedChange, T> change) {
    return change(DEADLINE_SECONDS, change);
  }

  private <T> Future<T> change(long deadlineSeconds, Function<SharedChange, T> change) {
    SharedState.Waiting<T> waiting = new SharedState.Waiting<>(change, Promise.promise());
    if (!changes.offer(waiting)) {
      return Future.failedFuture(
          new RejectedExecutionException(
              MOST_WAITING_CHANGES + " changes of the configuration are waiting already"));
    }
    return writer
        .executeBlocking(this::makeChanges, true)
        .compose(made -> waiting.outcome().future())
        .compose(written -> reader.inForce().map(written))
        .timeout(deadlineSeconds, TimeUnit.SECONDS);
  }

  /** Makes all that wait, of which there may be none: the one before may have made them. */
  private Void makeChanges() {
    List<SharedState.Waiting<?>> waiting = new ArrayList<>();
    changes.drainTo(waiting, MOST_CHANGES_AT_ONCE);
    if (!waiting.isEmpty()) {
      shared.change(waiting, reader::unended, reader::tellReplaced);
    }
    return null;
  }
}
