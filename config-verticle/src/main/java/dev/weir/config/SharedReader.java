package dev.weir.config;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what the cluster shares in force on this node.
 *
 * <p>Only the reader thread makes snapshots. Listeners tell it <i>that</i> something changed, never
 * what: it asks the map, so what it reads of a key is never older than what it read before, however
 * late or doubled events come. What changed in the meantime is read together, at most once per
 * {@value #GAP_MILLIS} ms, so a flood of assignments costs a few snapshots. Events can be lost when
 * a cluster parts and merges, therefore everything is read anew from time to time.
 *
 * <p><b>Versions never fall.</b> Where the cluster has a lower version than this node, since a part
 * of it with more changes has come back, or too many nodes were lost at once, this node brings its
 * own in. Where it has another one that is as high or higher, this node takes it. Either way the
 * changes that are lost by it are told, by one node. Weights that have moved between regions are
 * never lost: of each total the higher one stays.
 *
 * <p><b>Lost keys.</b> Who removes keys has all nodes told of each, though some hear of the version
 * that it belongs to before; keys that are lost with the nodes that had them go in silence. So
 * fewer of them when everything is compared, with the version that is in force, may be lost, or be
 * a change that is under way: they stay in force until the version is another. If there are still
 * fewer when everything is compared the next time, they are lost, and this node brings them back.
 *
 * <p><b>Ends of overrides.</b> Each node takes an override out of force by its own clock, since
 * Hazelcast may be out of reach when its time is over.
 *
 * <p>A node that cannot read keeps the snapshot that it has. The state below is guarded by {@code
 * changed}, all else is the reader's own.
 */
final class SharedReader {

  private static final Logger LOG = LoggerFactory.getLogger(SharedReader.class);

  private static final long GAP_MILLIS = 20;
  private static final long RECONCILE_SECONDS = 5;

  /** Reading all assignments is costly; in between, a differing number of them gives it away. */
  private static final int RECONCILES_PER_FULL_READ = 12;

  /** How often overrides are looked at whose time may be over; also how late one ends at most. */
  private static final long END_MILLIS = 100;

  private final SharedState shared;
  private final LossReport losses;
  private final Clock clock;
  private final ScheduledExecutorService reader;
  private final Executor gap;
  private final OverrideEnds ends = new OverrideEnds();
  private final LiveSnapshot live;
  private final ScheduledFuture<?> reconciliation;
  private final ScheduledFuture<?> ending;
  private int reconciles;

  /** The version that had fewer keys than in force when they were last counted; 0 if none had. */
  private long shortOfKeys;

  /** Whether the next read is to bring lost keys back. */
  private boolean keysLost;

  /** Whether all keys were compared, since what was read last came in force. */
  private boolean keysCompared;

  private volatile int nodes;
  private volatile int nodesWhenWhole;

  /** Set while the reader is unable to read, so that it is logged once. */
  private boolean blind;

  private final Object changed = new Object();
  private boolean documentChanged;
  private boolean readScheduled;
  private List<Promise<Void>> inForce = new ArrayList<>();

  /**
   * @param live what is in force, which is the reader's to replace from now on
   * @param reader has one thread; it may be shared with other short tasks
   */
  SharedReader(
      SharedState shared,
      LiveSnapshot live,
      LossReport losses,
      Clock clock,
      ScheduledExecutorService reader) {
    this.shared = shared;
    this.live = live;
    this.losses = losses;
    this.clock = clock;
    this.reader = reader;
    shared.assignments().startFrom(live.state().assignments());
    shared.overrides().startFrom(live.state().overrides());
    live.state().overrides().values().forEach(ends::note);
    gap = CompletableFuture.delayedExecutor(GAP_MILLIS, TimeUnit.MILLISECONDS, reader);
    reconciliation =
        reader.scheduleWithFixedDelay(
            this::reconcile, RECONCILE_SECONDS, RECONCILE_SECONDS, TimeUnit.SECONDS);
    ending =
        reader.scheduleWithFixedDelay(
            this::endOverrides, END_MILLIS, END_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Has what was changed by then be read; done when it is in force. Any thread. */
  Future<Void> inForce() {
    Promise<Void> promise = Promise.promise();
    synchronized (changed) {
      documentChanged = true;
      inForce.add(promise);
      scheduleRead();
    }
    return promise.future();
  }

  /** Has what keys are known to have changed be read. Any thread. */
  void keysChanged() {
    synchronized (changed) {
      scheduleRead();
    }
  }

  /** Has the document be read, and keys that are known to have changed. Any thread. */
  void documentChanged() {
    synchronized (changed) {
      documentChanged = true;
      scheduleRead();
    }
  }

  /** Has everything be read. Any thread. */
  void everythingChanged() {
    allKeysChanged();
    documentChanged();
  }

  /** Tells how many nodes there are now. Any thread, one at a time. */
  void nodes(int count) {
    if (count < nodes) {
      losses.parted(live.state());
      nodesWhenWhole = Math.max(nodesWhenWhole, nodes);
    }
    nodes = count;
  }

  /** Reads no more. The executor is the caller's to end. */
  void close() {
    reconciliation.cancel(false);
    ending.cancel(false);
  }

  private void allKeysChanged() {
    shared.assignments().allChanged();
    shared.overrides().allChanged();
  }

  private void scheduleRead() {
    if (!readScheduled) {
      readScheduled = true;
      try {
        reader.execute(this::read);
      } catch (RejectedExecutionException e) {
        LOG.debug("the configuration is not read any more: this node is leaving");
      }
    }
  }

  private void read() {
    boolean readDocument;
    List<Promise<Void>> waiting;
    synchronized (changed) {
      readDocument = documentChanged;
      waiting = inForce;
      documentChanged = false;
      inForce = new ArrayList<>();
    }
    try {
      ConfigState before = live.state();
      ConfigDocument next = readDocument ? readDocument() : before.document();
      readKeys();
      if (keysLost && isShortOfKeys(next)) {
        keysLost = false;
        next = restore();
        readKeys();
      }
      apply(next);
      losses.tellIfDeparted(before, live.state());
      if (readDocument && nodes >= nodesWhenWhole) {
        losses.whole();
        nodesWhenWhole = 0;
      }
      blind = false;
      waiting.forEach(Promise::tryComplete);
    } catch (Exception e) {
      // Whatever Hazelcast throws: a reader that stops would keep this node on old plans.
      if (!blind) {
        LOG.warn(
            "the shared configuration cannot be read, version {} stays in force: {}",
            live.state().version(),
            e.toString());
      }
      blind = true;
      synchronized (changed) {
        documentChanged = true;
      }
      waiting.forEach(promise -> promise.tryFail(e));
    } finally {
      afterRead();
    }
  }

  /** Lets the next read in after a gap, during which changes gather. */
  private void afterRead() {
    gap.execute(
        () -> {
          synchronized (changed) {
            readScheduled = false;
            // After a failure the next reconciliation is soon enough, unless a change waits for it.
            boolean stale =
                documentChanged || shared.assignments().isStale() || shared.overrides().isStale();
            if (!inForce.isEmpty() || (stale && !blind)) {
              scheduleRead();
            }
          }
        });
  }

  private void reconcile() {
    try {
      reconciles++;
      countKeys();
      if (blind
          || keysLost
          || reconciles % RECONCILES_PER_FULL_READ == 0
          || shared.assignments().size() != shared.assignments().read().size()) {
        everythingChanged();
      } else {
        documentChanged();
      }
    } catch (RuntimeException e) {
      // The read that follows says so, once.
      everythingChanged();
    }
  }

  private void countKeys() {
    ConfigState mine = unended();
    boolean fewer =
        shared.assignments().size() < mine.assignments().size()
            || shared.overrides().size() < mine.overrides().size();
    keysLost = fewer && shortOfKeys == mine.version();
    shortOfKeys = fewer ? mine.version() : 0;
  }

  private ConfigDocument readDocument() throws Exception {
    ConfigDocument mine = live.state().document();
    Optional<ConfigDocument> there = shared.document().read();
    if (there.isEmpty()
        || there.get().version() < mine.version()
        || !there.get().keepsMovesOf(mine)) {
      return restore();
    }
    if (there.get().departsFrom(mine)) {
      allKeysChanged();
    }
    return there.get();
  }

  /** Brings in what this node has, and gives the document that is there then. */
  private ConfigDocument restore() throws Exception {
    ConfigState mine = unended();
    shared.restore(mine, this::tellReplaced);
    allKeysChanged();
    ConfigDocument there = shared.document().read().orElseThrow();
    if (there.version() < mine.version()) {
      throw new IllegalStateException("the cluster is back at version " + there.version());
    }
    return there;
  }

  /** Tells that {@code mine} takes the place of what the cluster has. Any thread. */
  void tellReplaced(ConfigState lower, ConfigState mine) {
    LOG.warn(
        "configuration version {} of this node takes the place of version {} in the cluster",
        mine.version(),
        lower.version());
    losses.tellIfDeparted(lower, mine);
  }

  /** What is in force, without overrides that have ended. Any thread. */
  ConfigState unended() {
    return live.state().unendedAt(clock.epochMillis());
  }

  /** Whether keys are gone that no change has removed, or one that is under way. */
  private boolean isShortOfKeys(ConfigDocument document) {
    ConfigState before = live.state();
    return keysCompared
        && document.version() == before.version()
        && !document.departsFrom(before.document())
        && (shared.assignments().read().size() < before.assignments().size()
            || shared.overrides().read().size() < unended().overrides().size());
  }

  private void readKeys() {
    keysCompared |= shared.assignments().refresh();
    KeyMap<KeyOverride> before = shared.overrides().read();
    keysCompared |= shared.overrides().refresh();
    shared.overrides().replace(read -> unendedOf(read, before));
  }

  /** Ended ones that are read again are no change. */
  private KeyMap<KeyOverride> unendedOf(KeyMap<KeyOverride> read, KeyMap<KeyOverride> before) {
    if (!read.is(before)) {
      before.differences(read).values().forEach(changed -> changed.ifPresent(ends::note));
    }
    KeyMap<KeyOverride> unended = ends.inForce(read, clock.epochMillis());
    return unended.is(read) || !unended.equals(before) ? unended : before;
  }

  private void endOverrides() {
    if (ends.earliestMillis() <= clock.epochMillis()) {
      shared.overrides().replace(read -> ends.inForce(read, clock.epochMillis()));
      apply(live.state().document());
    }
  }

  private void apply(ConfigDocument document) {
    keysCompared = isShortOfKeys(document);
    ConfigState next =
        keysCompared
            ? new ConfigState(document, live.state().assignments(), unended().overrides())
            : new ConfigState(document, shared.assignments().read(), shared.overrides().read());
    if (!next.is(live.state())) {
      live.replace(next);
    }
  }
}
