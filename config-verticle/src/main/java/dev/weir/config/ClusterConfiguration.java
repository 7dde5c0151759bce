package dev.weir.config;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration that the nodes of a cluster share: one versioned document, a map of assignments
 * and one of overrides, all in Hazelcast, and the snapshot of them that is in force here.
 *
 * <p><b>Writing.</b> A change reads the document, makes the next one and puts it in place of
 * exactly the one that it read; if another node was faster, it begins again. So changes made at the
 * same time on different nodes are all kept. Assignments and overrides are entries of their own.
 * Deleting a plan and assigning a key to it exclude each other without a lock: each writes first
 * and then looks for the other's write, so at least one of the two sees both, and takes its own
 * back.
 *
 * <p><b>Reading.</b> Only the reader thread makes snapshots. Listeners tell it <i>that</i>
 * something changed, never what: it asks the map, so what it reads of a key is never older than
 * what it read before, however late or doubled events come. What changed in the meantime is read
 * together, at most once per {@value #GAP_MILLIS} ms, so a flood of assignments costs a few
 * snapshots. Events can be lost when a cluster parts and merges, therefore everything is read anew
 * from time to time.
 *
 * <p><b>Ends of overrides.</b> Each node takes an override out of force by its own clock. Hazelcast
 * drops the entry a while later, so that members whose clocks are ahead end it for nobody else.
 *
 * <p>A node that cannot read keeps the snapshot that it has. The state below is guarded by {@code
 * changed}, the fields of the snapshot by being the reader's own.
 */
final class ClusterConfiguration implements Configuration {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterConfiguration.class);

  private static final String DOCUMENTS = "weir.config";
  private static final String ASSIGNMENTS = "weir.assignments";
  private static final String OVERRIDES = "weir.overrides";
  private static final String KEY = "document";

  private static final long GAP_MILLIS = 20;
  private static final long RECONCILE_SECONDS = 5;

  /** Reading all assignments is costly; in between, a differing number of them gives it away. */
  private static final int RECONCILES_PER_FULL_READ = 12;

  /** How often overrides are looked at whose time may be over; also how late one ends at most. */
  private static final long END_MILLIS = 100;

  /** How long an override stays in the shared map when its time is over. */
  private static final long ENDED_MILLIS = 60_000;

  private static final int MOST_WAITING_CHANGES = 1024;
  private static final int MOST_TRIES = 100;
  private static final long DEADLINE_SECONDS = 10;

  private final IMap<String, String> documents;
  private final SharedKeys<String> assignments;
  private final SharedKeys<KeyOverride> overrides;
  private final OverrideEnds ends = new OverrideEnds();
  private final Clock clock;
  private final HazelcastInstance hazelcast;
  private final WorkerExecutor writer;
  private final ScheduledExecutorService reader;
  private final Executor gap;
  private final AtomicInteger waitingChanges = new AtomicInteger();
  private final UUID documentListener;
  private final UUID lifecycleListener;
  private final ScheduledFuture<?> reconciliation;
  private final ScheduledFuture<?> ending;

  /** The document is read far more often than it changes; any thread may replace this. */
  private volatile Decoded decoded;

  private final LiveSnapshot live;
  private ConfigDocument document;
  private int reconciles;

  /** Set while the reader is unable to read, so that it is logged once. */
  private boolean blind;

  private final Object changed = new Object();
  private boolean documentChanged;
  private List<Promise<Void>> inForce = new ArrayList<>();

  /** From the start, until there is something to compare with what is read. */
  private boolean readScheduled = true;

  /**
   * Joins the shared configuration, or begins it if this node is the first. Blocks.
   *
   * @param clock by which overrides end
   * @param writer has one thread, so that the changes made here keep their order
   * @param reader has one thread; it may be shared with other short tasks
   */
  ClusterConfiguration(
      PlansFile seed,
      HazelcastInstance hazelcast,
      Clock clock,
      WorkerExecutor writer,
      ScheduledExecutorService reader) {
    this.hazelcast = hazelcast;
    this.clock = clock;
    this.writer = writer;
    this.reader = reader;
    gap = CompletableFuture.delayedExecutor(GAP_MILLIS, TimeUnit.MILLISECONDS, reader);
    documents = hazelcast.getMap(DOCUMENTS);
    documentListener = documents.addEntryListener(new DocumentListener(), false);
    assignments =
        new SharedKeys<>(hazelcast.getMap(ASSIGNMENTS), text -> text, this::somethingChanged);
    overrides =
        new SharedKeys<>(hazelcast.getMap(OVERRIDES), this::decodeNoted, this::somethingChanged);
    lifecycleListener =
        hazelcast
            .getLifecycleService()
            .addLifecycleListener(
                event -> {
                  if (event.getState() == LifecycleState.MERGED) {
                    everythingChanged();
                  }
                });
    document = seed(seed);
    readKeys();
    live = new LiveSnapshot(document.with(assignments.read(), overrides.read()));
    LOG.info("configuration version {} joined", document.version());
    synchronized (changed) {
      readScheduled = false;
    }
    // The listeners were first, so nothing is missed; what they saw is read now.
    everythingChanged();
    reconciliation =
        reader.scheduleWithFixedDelay(
            this::reconcile, RECONCILE_SECONDS, RECONCILE_SECONDS, TimeUnit.SECONDS);
    ending =
        reader.scheduleWithFixedDelay(
            this::endOverrides, END_MILLIS, END_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public ConfigSnapshot current() {
    return live.current();
  }

  @Override
  public void onChange(Consumer<ConfigSnapshot> listener) {
    live.onChange(listener);
  }

  @Override
  public Future<Optional<Plan>> putPlan(Plan plan) {
    return change(() -> changeDocument(before -> before.putPlan(plan)).plan(plan.name()));
  }

  @Override
  public Future<Plan> deletePlan(String name) {
    return change(
        () -> {
          ConfigDocument before = changeDocument(d -> d.deletePlan(name, isAssigned(name)));
          Plan plan = before.plans().get(name);
          if (isAssigned(name)) {
            changeDocument(d -> d.plans().containsKey(name) ? d : d.putPlan(plan));
            before.deletePlan(name, true);
          }
          return plan;
        });
  }

  @Override
  public Future<Optional<Long>> putEndpoint(String endpoint, long weight) {
    return change(
        () -> changeDocument(before -> before.putEndpoint(endpoint, weight)).weight(endpoint));
  }

  private boolean isAssigned(String plan) {
    return assignments.shared().containsValue(plan);
  }

  @Override
  public Future<KeySetting> setKey(String key, KeySetting setting) {
    return change(
        () -> {
          Optional<String> assigned = Optional.ofNullable(assignments.shared().get(key));
          documentFor(setting).checkSetting(key, setting, assigned);
          return new KeySetting(
              setting.plan().map(plan -> assign(key, plan)).orElse(assigned),
              setting
                  .override()
                  .map(override -> override(key, override))
                  .orElseGet(() -> Optional.ofNullable(overrides.shared().get(key)))
                  .flatMap(this::unended));
        });
  }

  /** Reading the shared document for each of very many assignments would hold them up. */
  private ConfigDocument documentFor(KeySetting setting) {
    ConfigSnapshot here = live.current();
    boolean known = setting.plan().filter(plan -> here.plan(plan).isPresent()).isPresent();
    return known && setting.override().isEmpty() ? ConfigDocument.of(here) : readDocument();
  }

  /** Returns the plan before. */
  private Optional<String> assign(String key, String plan) {
    Optional<String> before = Optional.ofNullable(assignments.shared().put(key, plan));
    try {
      readDocument().checkSetting(key, KeySetting.ofPlan(plan), before);
    } catch (ConfigRefusedException e) {
      takeBack(key, plan, before);
      throw e;
    }
    assignments.changed(key);
    return before;
  }

  /** Returns the text of the override before. */
  private Optional<String> override(String key, KeyOverride override) {
    String text = new JsonObject(KeyFormat.write(override)).encode();
    long life =
        override.endMillis() == KeyOverride.NEVER
            ? 0
            : Math.max(0, override.endMillis() - clock.epochMillis()) + ENDED_MILLIS;
    String before = overrides.shared().put(key, text, life, TimeUnit.MILLISECONDS);
    overrides.changed(key);
    return Optional.ofNullable(before);
  }

  @Override
  public Future<KeySetting> clearKey(String key) {
    return change(
        () -> {
          Optional<String> plan = Optional.ofNullable(assignments.shared().remove(key));
          Optional<String> override = Optional.ofNullable(overrides.shared().remove(key));
          assignments.changed(key);
          overrides.changed(key);
          return new KeySetting(plan, override.flatMap(this::unended));
        });
  }

  private Optional<KeyOverride> unended(String text) {
    return Optional.of(decodeOverride(text))
        .filter(override -> !override.endedBy(clock.epochMillis()));
  }

  /** Ends the listeners. Blocks. The executors are the caller's to end. */
  void close() {
    reconciliation.cancel(false);
    ending.cancel(false);
    try {
      hazelcast.getLifecycleService().removeLifecycleListener(lifecycleListener);
      documents.removeEntryListener(documentListener);
      assignments.close();
      overrides.close();
    } catch (HazelcastInstanceNotActiveException e) {
      LOG.debug("Hazelcast has gone first, and the listeners with it");
    }
  }

  // Writing

  private <T> Future<T> change(Callable<T> change) {
    if (waitingChanges.incrementAndGet() > MOST_WAITING_CHANGES) {
      waitingChanges.decrementAndGet();
      return Future.failedFuture(
          new RejectedExecutionException(
              MOST_WAITING_CHANGES + " changes of the configuration are waiting already"));
    }
    return writer
        .executeBlocking(change, true)
        .compose(written -> inForce().map(written))
        .onComplete(done -> waitingChanges.decrementAndGet())
        .timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Returns the document before the change. */
  private ConfigDocument changeDocument(UnaryOperator<ConfigDocument> change) {
    for (int i = 0; i < MOST_TRIES; i++) {
      String text = documents.get(KEY);
      if (text == null) {
        // More nodes were lost at once than there are copies: go on from what is known here.
        documents.putIfAbsent(KEY, encode(ConfigDocument.of(live.current())));
        continue;
      }
      ConfigDocument before = decode(text);
      ConfigDocument after = change.apply(before);
      if (after.equals(before) || documents.replace(KEY, text, encode(after))) {
        return before;
      }
    }
    throw new ConfigRefusedException(
        409, List.of("the configuration is being changed by other nodes: try again"));
  }

  private ConfigDocument seed(PlansFile seed) {
    ConfigDocument first = ConfigDocument.first(seed);
    decoded = new Decoded(encode(first), first);
    documents.putIfAbsent(KEY, decoded.text());
    changeDocument(before -> before.adding(seed));
    Set<String> there = assignments.shared().keySet();
    seed.keys()
        .forEach(
            (key, plan) -> {
              if (!there.contains(key)) {
                assignments.shared().putIfAbsent(key, plan);
              }
            });
    return readDocument();
  }

  private void takeBack(String key, String plan, Optional<String> before) {
    if (before.isEmpty()) {
      assignments.shared().remove(key, plan);
    } else {
      assignments.shared().replace(key, plan, before.get());
    }
  }

  // Reading

  private Future<Void> inForce() {
    Promise<Void> promise = Promise.promise();
    synchronized (changed) {
      documentChanged = true;
      inForce.add(promise);
      scheduleRead();
    }
    return promise.future();
  }

  private void somethingChanged() {
    synchronized (changed) {
      scheduleRead();
    }
  }

  private void documentChanged() {
    synchronized (changed) {
      documentChanged = true;
      scheduleRead();
    }
  }

  private void everythingChanged() {
    assignments.allChanged();
    overrides.allChanged();
    documentChanged();
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
      ConfigDocument nextDocument = readDocument ? readDocument() : document;
      readKeys();
      apply(nextDocument);
      blind = false;
      waiting.forEach(Promise::tryComplete);
    } catch (RuntimeException e) {
      // Whatever Hazelcast throws: a reader that stops would keep this node on old plans.
      if (!blind) {
        LOG.warn(
            "the shared configuration cannot be read, version {} stays in force: {}",
            document.version(),
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
            boolean stale = documentChanged || assignments.isStale() || overrides.isStale();
            if (!inForce.isEmpty() || (stale && !blind)) {
              scheduleRead();
            }
          }
        });
  }

  private void reconcile() {
    try {
      reconciles++;
      if (blind
          || reconciles % RECONCILES_PER_FULL_READ == 0
          || assignments.shared().size() != assignments.read().size()) {
        everythingChanged();
      } else {
        documentChanged();
      }
    } catch (RuntimeException e) {
      // The read that follows says so, once.
      everythingChanged();
    }
  }

  /** Of what was read, since Hazelcast may be out of reach when their time is over. */
  private void endOverrides() {
    if (ends.earliestMillis() <= clock.epochMillis()) {
      overrides.replace(read -> ends.inForce(read, clock.epochMillis()));
      apply(document);
    }
  }

  private void apply(ConfigDocument nextDocument) {
    boolean documentDiffers = !nextDocument.equals(document);
    if (documentDiffers) {
      LOG.info(
          "configuration version {}: {}",
          nextDocument.version(),
          nextDocument.changesSince(document));
    }
    ConfigSnapshot now = live.current();
    if (documentDiffers
        || !assignments.read().is(now.assignments())
        || !overrides.read().is(now.overrides())) {
      document = nextDocument;
      live.replace(document.with(assignments.read(), overrides.read()));
    }
  }

  private ConfigDocument readDocument() {
    String text = documents.get(KEY);
    if (text == null) {
      String mine = encode(ConfigDocument.of(live.current()));
      String theirs = documents.putIfAbsent(KEY, mine);
      text = theirs == null ? mine : theirs;
    }
    return decode(text);
  }

  private void readKeys() {
    assignments.refresh();
    KeyMap<KeyOverride> before = overrides.read();
    overrides.refresh();
    overrides.replace(read -> unendedOf(read, before));
  }

  /** Ended ones that are read again are no change. */
  private KeyMap<KeyOverride> unendedOf(KeyMap<KeyOverride> read, KeyMap<KeyOverride> before) {
    KeyMap<KeyOverride> unended = ends.inForce(read, clock.epochMillis());
    return unended.is(read) || !unended.equals(before) ? unended : before;
  }

  private KeyOverride decodeNoted(String text) {
    KeyOverride override = decodeOverride(text);
    ends.note(override);
    return override;
  }

  private static KeyOverride decodeOverride(String text) {
    try {
      return KeyFormat.read(new JsonObject(text).getMap());
    } catch (DecodeException | ConfigRefusedException e) {
      throw new IllegalStateException("an override of the cluster: " + e.getMessage(), e);
    }
  }

  private static String encode(ConfigDocument document) {
    return new JsonObject(document.format()).encode();
  }

  /**
   * @throws IllegalStateException if the text is not of a document; the fault is not of whoever
   *     wants to change it
   */
  private ConfigDocument decode(String text) {
    Decoded last = decoded;
    if (last.text().equals(text)) {
      return last.document();
    }
    try {
      ConfigDocument read = ConfigDocument.parse(new JsonObject(text).getMap());
      decoded = new Decoded(text, read);
      return read;
    } catch (DecodeException | ConfigRefusedException e) {
      throw new IllegalStateException("the cluster's configuration: " + e.getMessage(), e);
    }
  }

  private record Decoded(String text, ConfigDocument document) {}

  private final class DocumentListener
      implements EntryAddedListener<String, String>, EntryUpdatedListener<String, String> {

    @Override
    public void entryAdded(EntryEvent<String, String> event) {
      documentChanged();
    }

    @Override
    public void entryUpdated(EntryEvent<String, String> event) {
      documentChanged();
    }
  }
}
