package dev.weir.config;

import com.hazelcast.core.EntryEvent;
import com.hazelcast.map.IMap;
import com.hazelcast.map.listener.EntryAddedListener;
import com.hazelcast.map.listener.EntryUpdatedListener;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one document of the cluster, as text in a map of Hazelcast, and the lock that whoever changes
 * the configuration holds meanwhile. Safe to use from any thread, except one's own event loops: all
 * of it blocks.
 */
final class SharedDocument {

  private static final Logger LOG = LoggerFactory.getLogger(SharedDocument.class);

  private static final String KEY = "document";

  /** A member that dies gives its locks back; one that hangs does so by this. */
  private static final long LEASE_SECONDS = 60;

  private static final long CLAIM_MINUTES = 10;

  private final IMap<String, String> documents;
  private final UUID listener;

  /** It is read far more often than it changes; any thread may replace this. */
  private volatile Decoded decoded = new Decoded("", Optional.empty());

  /**
   * @param onChange called, on any thread, when there is something to read
   */
  SharedDocument(IMap<String, String> documents, Runnable onChange) {
    this.documents = documents;
    listener = documents.addEntryListener(new Listener(onChange), KEY, false);
  }

  /**
   * The document; empty if there is none, because nobody has begun or too many nodes were lost at
   * once.
   *
   * @throws IllegalStateException if it cannot be understood; the fault is not of whoever wants to
   *     change it
   */
  Optional<ConfigDocument> read() {
    String text = documents.get(KEY);
    return text == null ? Optional.empty() : Optional.of(decode(text));
  }

  /**
   * Puts {@code next} in the place of {@code before}; only by who holds the lock. That does not
   * help where the cluster has become another one meanwhile, so what is there is compared as well.
   *
   * @throws ConfigRefusedException 409 if {@code before} is not what is there
   */
  void write(Optional<ConfigDocument> before, ConfigDocument next) {
    String text = encode(next);
    boolean written =
        before.isEmpty()
            ? documents.putIfAbsent(KEY, text) == null
            : documents.replace(KEY, textOf(before.get()), text);
    if (!written) {
      throw busy();
    }
    decoded = new Decoded(text, Optional.of(next));
  }

  private String textOf(ConfigDocument document) {
    Decoded last = decoded;
    return last.document().equals(Optional.of(document)) ? last.text() : encode(document);
  }

  private static String encode(ConfigDocument document) {
    return new JsonObject(document.format()).encode();
  }

  private static ConfigRefusedException busy() {
    return new ConfigRefusedException(
        409, List.of("the configuration is being changed by other nodes: try again"));
  }

  /**
   * Does {@code change} while no other thread of the cluster does the like.
   *
   * @throws ConfigRefusedException 409 if others go on for longer than {@code waitSeconds}
   */
  <T> T exclusively(long waitSeconds, Callable<T> change) throws Exception {
    if (!documents.tryLock(KEY, waitSeconds, TimeUnit.SECONDS, LEASE_SECONDS, TimeUnit.SECONDS)) {
      throw busy();
    }
    try {
      return change.call();
    } finally {
      unlock();
    }
  }

  private void unlock() {
    try {
      documents.unlock(KEY);
    } catch (IllegalMonitorStateException e) {
      // It went with the cluster that this one was a part of, or its time was over.
      LOG.debug("the lock of the configuration had gone: {}", e.toString());
    }
  }

  /** Whether this node is the first to claim {@code what}, so that it does it for all. */
  boolean claims(String what) {
    return documents.putIfAbsent("claim " + what, "", CLAIM_MINUTES, TimeUnit.MINUTES) == null;
  }

  private ConfigDocument decode(String text) {
    Decoded last = decoded;
    if (last.text().equals(text)) {
      return last.document().orElseThrow();
    }
    try {
      ConfigDocument read = ConfigDocument.parse(new JsonObject(text).getMap());
      decoded = new Decoded(text, Optional.of(read));
      return read;
    } catch (DecodeException | ConfigRefusedException e) {
      throw new IllegalStateException("the cluster's configuration: " + e.getMessage(), e);
    }
  }

  /** Ends the listener. */
  void close() {
    documents.removeEntryListener(listener);
  }

  private record Decoded(String text, Optional<ConfigDocument> document) {}

  private record Listener(Runnable onChange)
      implements EntryAddedListener<String, String>, EntryUpdatedListener<String, String> {

    @Override
    public void entryAdded(EntryEvent<String, String> event) {
      onChange.run();
    }

    @Override
    public void entryUpdated(EntryEvent<String, String> event) {
      onChange.run();
    }
  }
}
