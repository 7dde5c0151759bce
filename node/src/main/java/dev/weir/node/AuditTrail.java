package dev.weir.node;

import dev.weir.config.AuditLog;
import dev.weir.config.Clock;
import dev.weir.config.KeyFingerprint;
import dev.weir.config.LostChange;
import dev.weir.config.LostChange.Kind;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down who changed what: a line of the log for each change, and the log that the cluster
 * shares.
 */
final class AuditTrail {

  private static final Logger AUDIT = LoggerFactory.getLogger("audit");
  private static final Logger LOG = LoggerFactory.getLogger(AuditTrail.class);

  private static final DateTimeFormatter WHEN =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /** Of one form of what was changed; a plan may list endpoints by the thousand. */
  private static final int MOST_CHARS = 4096;

  private final AuditLog log;
  private final Clock clock;

  AuditTrail(AuditLog log, Clock clock) {
    this.log = log;
    this.clock = clock;
  }

  /**
   * What is changed.
   *
   * @param action by which call
   * @param name the plan, endpoint or key that it is about
   * @param isKey whether it is a key
   */
  record Subject(String action, String name, boolean isKey) {

    static Subject of(String action, String name) {
      return new Subject(action, name, false);
    }

    static Subject ofKey(String action, String key) {
      return new Subject(action, key, true);
    }

    private String inLog() {
      return isKey ? KeyFingerprint.of(name) : Quoted.of(name);
    }
  }

  /** Writes a change down, unless it changed nothing. Never fails: the change is in force. */
  Future<Void> changed(
      Caller by, Subject subject, Optional<JsonObject> before, Optional<JsonObject> after) {
    return before.equals(after) ? Future.succeededFuture() : done(by, subject, before, after);
  }

  /** Writes down what has no form before and after. Never fails. */
  Future<Void> done(Caller by, Subject subject) {
    return done(by, subject, Optional.empty(), Optional.empty());
  }

  /** Writes down a change that is lost. Never fails. */
  void lost(LostChange change) {
    String action = "lose_" + (change.kind() == Kind.MORE_KEYS ? "keys" : lower(change.kind()));
    done(
            Caller.MERGE,
            new Subject(action, change.name(), change.kind() == Kind.KEY),
            change.lost(),
            change.kept())
        .onFailure(failure -> LOG.error("a lost change was not written down", failure));
  }

  private static String lower(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private Future<Void> done(
      Caller by, Subject subject, Optional<JsonObject> before, Optional<JsonObject> after) {
    Object old = bounded(before);
    Object now = bounded(after);
    AUDIT.info("{} {} by {}: {} -> {}", subject.action, subject.inLog(), by.name(), old, now);
    JsonObject change =
        new JsonObject()
            .put("when", time(clock.epochMillis()))
            .put("action", subject.action)
            .put("subject", subject.name)
            .put("old", old)
            .put("new", now)
            .put("by", by.name());
    return log.add(change)
        .recover(
            failure -> {
              LOG.warn("a change is in the log of this node alone: {}", failure.toString());
              return Future.succeededFuture();
            });
  }

  /** The form itself; how long it is, if it is long; null if there is none. */
  private static Object bounded(Optional<JsonObject> form) {
    return form.map(
            json -> {
              int length = json.encode().length();
              return length <= MOST_CHARS ? json : new JsonObject().put("characters", length);
            })
        .orElse(null);
  }

  /** The changes kept, the newest first. */
  Future<JsonObject> recent() {
    return log.recent().map(changes -> new JsonObject().put("changes", new JsonArray(changes)));
  }

  /** A moment as RFC 3339 writes it, in UTC, to the millisecond. */
  static String time(long epochMillis) {
    return WHEN.format(Instant.ofEpochMilli(epochMillis));
  }
}
