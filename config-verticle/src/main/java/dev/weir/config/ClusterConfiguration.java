package dev.weir.config;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryRemovedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * The configuration that the nodes of a cluster share: one versioned document and a map of
 * assignments, both in Hazelcast, and the snapshot of them that is in force here.
 *
 * <p><b>Writing.</b> A change reads the document, makes the next one and puts it in place of
 * exactly the one that it read; if another node was faster, it begins again. So changes made at the
 * same time on different nodes are all kept. Assignments are entries of their own. Deleting a plan
 * and assigning a key to it exclude each other without a lock: each writes first and then looks for
 * the other's write, so at least one of the two sees both, and takes its own back.
 *
 * <p><b>Reading.</b> Only the reader thread makes snapshots. Listeners tell it <i>that</i>
 * something changed, never what: it asks the map, so what it reads of a key is never older than
 * what it read before, however late or doubled events come. What changed in the meantime is read
 * together, at most once per {@value #GAP_MILLIS} ms, so a flood of assignments costs a few
 * snapshots. Events can be lost when a cluster parts and merges, therefore everything is read anew
 * from time to time.
 *
 * <p>A node that cannot read keeps the snapshot that it has. The state below is guarded by {@code
 * changed}, the fields of the snapshot by being the reader's own.
 */
final class ClusterConfiguration implements Configuration {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterConfiguration.class);

  private static final String DOCUMENTS = "weir.config";
  private static final String ASSIGNMENTS = "weir.assignments";
  private static final String KEY = "document";

  private static final long GAP_MILLIS = 20;
  private static final long RECONCILE_SECONDS = 5;

  /** Reading all assignments is costly; in between, a differing number of them gives it away. */
  private static final int RECONCILES_PER_FULL_READ = 12;

  /** With more keys than this to read one by one, reading all is cheaper. */
  private static final int MOST_CHANGED_KEYS = 50_000;

  private static final int MOST_WAITING_CHANGES = 1024;
  private static final int MOST_TRIES = 100;
  private static final long DEADLINE_SECONDS = 10;

  private final IMap<String, String> documents;
  private final IMap<String, String> sharedAssignments;
  private final HazelcastInstance hazelcast;
  private final WorkerExecutor writer;
  private final ScheduledExecutorService reader;
  private final Executor gap;
  private final AtomicInteger waitingChanges = new AtomicInteger();
  private final UUID documentListener;
  private final UUID assignmentListener;
  private final UUID lifecycleListener;
  private final ScheduledFuture<?> reconciliation;

  /** The document is read far more often than it changes; any thread may replace this. */
  private volatile Decoded decoded;

  private final LiveSnapshot live;
  private ConfigDocument document;
  private Assignments assignments;
  private int reconciles;

  /** Set while the reader is unable to read, so that it is logged once. */
  private boolean blind;

  private final Object changed = new Object();
  private boolean documentChanged;
  private boolean allChanged;
  private Set<String> changedKeys = new HashSet<>();
  private List<Promise<Void>> inForce = new ArrayList<>();

  /** From the start, until there is something to compare with what is read. */
  private boolean readScheduled = true;

  /**
   * Joins the shared configuration, or begins it if this node is the first. Blocks.
   *
   * @param writer has one thread, so that the changes made here keep their order
   * @param reader has one thread; it may be shared with other short tasks
   */
  ClusterConfiguration(
      PlansFile seed,
      HazelcastInstance hazelcast,
      WorkerExecutor writer,
      ScheduledExecutorService reader) {
    this.hazelcast = hazelcast;
    this.writer = writer;
    this.reader = reader;
    gap = CompletableFuture.delayedExecutor(GAP_MILLIS, TimeUnit.MILLISECONDS, reader);
    documents = hazelcast.getMap(DOCUMENTS);
    sharedAssignments = hazelcast.getMap(ASSIGNMENTS);
    documentListener = documents.addEntryListener(new DocumentListener(), false);
    assignmentListener = sharedAssignments.addEntryListener(new AssignmentListener(), false);
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
    assignments = readAssignments();
    live = new LiveSnapshot(document.with(assignments));
    LOG.info("configuration version {} joined", document.version());
    synchronized (changed) {
      readScheduled = false;
    }
    // The listeners were first, so nothing is missed; what they saw is read now.
    everythingChanged();
    reconciliation =
        reader.scheduleWithFixedDelay(
            this::reconcile, RECONCILE_SECONDS, RECONCILE_SECONDS, TimeUnit.SECONDS);
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
  public Future<Void> putPlan(Plan plan) {
    return change(() -> changeDocument(before -> before.putPlan(plan)));
  }

  @Override
  public Future<Void> deletePlan(String name) {
    return change(
        () -> {
          ConfigDocument before =
              changeDocument(d -> d.deletePlan(name, sharedAssignments.containsValue(name)));
          if (sharedAssignments.containsValue(name)) {
            Plan plan = before.plans().get(name);
            changeDocument(d -> d.plans().containsKey(name) ? d : d.putPlan(plan));
            before.deletePlan(name, true);
          }
          return null;
        });
  }

  @Override
  public Future<Void> putEndpoint(String endpoint, long weight) {
    return change(() -> changeDocument(before -> before.putEndpoint(endpoint, weight)));
  }

  @Override
  public Future<Void> assign(String key, String plan) {
    return change(
        () -> {
          ConfigSnapshot here = live.current();
          boolean known = here.plan(plan).isPresent();
          (known ? ConfigDocument.of(here) : readDocument()).checkAssignment(key, plan);
          String before = sharedAssignments.put(key, plan);
          try {
            readDocument().checkAssignment(key, plan);
          } catch (ConfigRefusedException e) {
            takeBack(key, plan, before);
            throw e;
          }
          keyChanged(key);
          return null;
        });
  }

  @Override
  public Future<Void> unassign(String key) {
    return change(
        () -> {
          sharedAssignments.delete(key);
          keyChanged(key);
          return null;
        });
  }

  /** Ends the listeners. Blocks. The executors are the caller's to end. */
  void close() {
    reconciliation.cancel(false);
    try {
      hazelcast.getLifecycleService().removeLifecycleListener(lifecycleListener);
      documents.removeEntryListener(documentListener);
      sharedAssignments.removeEntryListener(assignmentListener);
    } catch (HazelcastInstanceNotActiveException e) {
      LOG.debug("Hazelcast has gone first, and the listeners with it");
    }
  }

  // Writing

  private Future<Void> change(Callable<?> change) {
    if (waitingChanges.incrementAndGet() > MOST_WAITING_CHANGES) {
      waitingChanges.decrementAndGet();
      return Future.failedFuture(
          new RejectedExecutionException(
              MOST_WAITING_CHANGES + " changes of the configuration are waiting already"));
    }
    return writer
        .executeBlocking(change, true)
        .compose(written -> inForce())
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
    Set<String> there = sharedAssignments.keySet();
    seed.keys()
        .forEach(
            (key, plan) -> {
              if (!there.contains(key)) {
                sharedAssignments.putIfAbsent(key, plan);
              }
            });
    return readDocument();
  }

  private void takeBack(String key, String plan, String before) {
    if (before == null) {
      sharedAssignments.remove(key, plan);
    } else {
      sharedAssignments.replace(key, plan, before);
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

  private void keyChanged(String key) {
    synchronized (changed) {
      changedKeys.add(key);
      if (changedKeys.size() > MOST_CHANGED_KEYS) {
        changedKeys.clear();
        allChanged = true;
      }
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
    synchronized (changed) {
      documentChanged = true;
      allChanged = true;
      scheduleRead();
    }
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
    boolean readAll;
    Set<String> keys;
    List<Promise<Void>> waiting;
    synchronized (changed) {
      readDocument = documentChanged;
      readAll = allChanged;
      keys = changedKeys;
      waiting = inForce;
      documentChanged = false;
      allChanged = false;
      changedKeys = new HashSet<>();
      inForce = new ArrayList<>();
    }
    try {
      ConfigDocument nextDocument = readDocument ? readDocument() : document;
      Assignments nextAssignments = readAll ? readAssignments() : readAssignments(keys);
      apply(nextDocument, nextAssignments);
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
        allChanged = true;
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
            boolean stale = documentChanged || allChanged || !changedKeys.isEmpty();
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
          || sharedAssignments.size() != assignments.size()) {
        everythingChanged();
      } else {
        documentChanged();
      }
    } catch (RuntimeException e) {
      // The read that follows says so, once.
      everythingChanged();
    }
  }

  private void apply(ConfigDocument nextDocument, Assignments nextAssignments) {
    boolean documentDiffers = !nextDocument.equals(document);
    if (documentDiffers) {
      LOG.info(
          "configuration version {}: {}",
          nextDocument.version(),
          nextDocument.changesSince(document));
    }
    if (documentDiffers || !nextAssignments.is(assignments)) {
      document = nextDocument;
      assignments = nextAssignments;
      live.replace(document.with(assignments));
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

  private Assignments readAssignments() {
    Map<String, String> all = new HashMap<>();
    sharedAssignments.entrySet().forEach(entry -> all.put(entry.getKey(), entry.getValue()));
    Assignments read = Assignments.of(all);
    return read.equals(assignments) ? assignments : read;
  }

  private Assignments readAssignments(Set<String> keys) {
    if (keys.isEmpty()) {
      return assignments;
    }
    Map<String, String> there = sharedAssignments.getAll(keys);
    Assignments next = assignments;
    for (String key : keys) {
      String plan = there.get(key);
      next = plan == null ? next.without(key) : next.with(key, plan);
    }
    return next;
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

  private final class AssignmentListener
      implements EntryAddedListener<String, String>,
          EntryUpdatedListener<String, String>,
          EntryRemovedListener<String, String> {

    @Override
    public void entryAdded(EntryEvent<String, String> event) {
      keyChanged(event.getKey());
    }

    @Override
    public void entryUpdated(EntryEvent<String, String> event) {
      keyChanged(event.getKey());
    }

    @Override
    public void entryRemoved(EntryEvent<String, String> event) {
      keyChanged(event.getKey());
    }
  }
}
