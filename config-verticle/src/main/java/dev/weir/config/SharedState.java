package dev.weir.config;

import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The configuration in Hazelcast: the document, a map of assignments and one of overrides.
 *
 * <p>Whoever changes it has the document's lock meanwhile, so changes made at the same time on
 * different nodes come one after another. Keys are written first and the document last, with the
 * version that they belong to: so who reads the document and then the keys has all changes up to
 * its version, and a version is never higher than what is there.
 *
 * <p>All of it blocks. A change fails with {@link ConfigRefusedException} 409 if others hold the
 * lock for too long.
 */
final class SharedState {

  private static final String DOCUMENTS = "weir.config";
  private static final String ASSIGNMENTS = "weir.assignments";
  private static final String OVERRIDES = "weir.overrides";

  /** How long a change waits for those of other nodes. */
  private static final long CHANGE_SECONDS = 5;

  /** A node that starts has more time, and more to do. */
  private static final long JOIN_SECONDS = 40;

  /** The thread that reads has other things to do, and tries again later. */
  private static final long RESTORE_SECONDS = 1;

  private final SharedDocument document;
  private final SharedKeys<String> assignments;
  private final SharedKeys<KeyOverride> overrides;
  private final Clock clock;
  private final String writer;

  /**
   * @param writer of the versions that are made here
   * @param onDocument called, on any thread, when there is a document to read
   * @param onKeys called, on any thread, when there are keys to read
   */
  SharedState(
      HazelcastInstance hazelcast,
      Clock clock,
      String writer,
      Runnable onDocument,
      Runnable onKeys) {
    this.clock = clock;
    this.writer = writer;
    document = new SharedDocument(hazelcast.getMap(DOCUMENTS), onDocument);
    assignments = new SharedKeys<>(hazelcast.getMap(ASSIGNMENTS), new PlanNames(), onKeys);
    overrides = new SharedKeys<>(hazelcast.getMap(OVERRIDES), new SharedOverrides(clock), onKeys);
  }

  SharedDocument document() {
    return document;
  }

  SharedKeys<String> assignments() {
    return assignments;
  }

  SharedKeys<KeyOverride> overrides() {
    return overrides;
  }

  /** What was there before this node came, and what is there since. */
  record Joined(Optional<ConfigState> before, ConfigState now) {}

  /**
   * Brings in what this node knows: {@code mine}, if the cluster has a lower version or none, and
   * then {@code seed}.
   *
   * @throws ConfigRefusedException if this node, or what it knows, is of another region, or {@code
   *     seed} does not go with what is there; nothing is written then
   */
  Joined join(Optional<ConfigState> mine, Seed seed) throws Exception {
    return document.exclusively(
        JOIN_SECONDS,
        () -> {
          Optional<ConfigState> there = read();
          there.ifPresent(seed::requireRegionOf);
          mine.ifPresent(seed::requireRegionOf);
          Optional<ConfigState> known =
              higher(there, mine).map(state -> keepingMoves(keepingMoves(state, there), mine));
          ConfigState next = seed.appliedTo(known, writer);
          replace(there, next);
          return new Joined(there, next);
        });
  }

  /** Is told what the cluster had, before other nodes see what takes its place. */
  @FunctionalInterface
  interface OnLower {
    void replaced(ConfigState lower, ConfigState mine);
  }

  /** Brings in {@code mine}, if the cluster has a lower version, or has lost some of it. */
  void restore(ConfigState mine, OnLower onLower) throws Exception {
    document.<Void>exclusively(
        RESTORE_SECONDS,
        () -> {
          restoreHolding(mine, onLower);
          return null;
        });
  }

  /**
   * Weights that have moved between regions are kept of both: what was given away must not be there
   * again when another document takes its place.
   */
  private void restoreHolding(ConfigState mine, OnLower onLower) {
    Optional<ConfigDocument> there = document.read();
    if (there.isEmpty() || isBehind(there.get(), mine)) {
      Optional<ConfigState> before = read();
      before.ifPresent(lower -> onLower.replaced(lower, mine));
      replace(before, keepingMoves(mine, before));
    } else if (!there.get().keepsMovesOf(mine.document())) {
      document.write(there, there.get().keepingMovesOf(mine.document()).next(writer));
    }
  }

  private ConfigState keepingMoves(ConfigState state, Optional<ConfigState> other) {
    return other.map(known -> state.keepingMovesOf(known.document(), writer)).orElse(state);
  }

  /** Keys are never fewer without a new version, unless more nodes were lost than have copies. */
  private boolean isBehind(ConfigDocument there, ConfigState mine) {
    return there.version() < mine.version()
        || (there.version() == mine.version()
            && !there.departsFrom(mine.document())
            && (assignments.size() < mine.assignments().size()
                || overrides.size() < mine.overrides().size()));
  }

  private static Optional<ConfigState> higher(
      Optional<ConfigState> there, Optional<ConfigState> mine) {
    return there.isPresent() && mine.isPresent() && mine.get().version() > there.get().version()
        ? mine
        : there.or(() -> mine);
  }

  /** A change that somebody waits for. */
  record Waiting<T>(Function<SharedChange, T> change, Promise<T> outcome) {

    /** Gives what is to be done when the change is written; none if it was refused. */
    Optional<Runnable> attempt(SharedChange changes) {
      try {
        T result = change.apply(changes);
        return Optional.of(() -> outcome.tryComplete(result));
      } catch (ConfigRefusedException e) {
        outcome.tryFail(e);
        return Optional.empty();
      }
    }
  }

  /**
   * Makes {@code changes} one after another, and writes them together.
   *
   * @param mine what this node knows: changes are not made to anything lower, which is what is left
   *     when a cluster parts before its members have copies of all
   */
  void change(List<Waiting<?>> changes, Supplier<ConfigState> mine, OnLower onLower) {
    try {
      List<Runnable> done =
          document.exclusively(
              CHANGE_SECONDS,
              () -> {
                restoreHolding(mine.get(), onLower);
                ConfigDocument there = document.read().orElseThrow();
                SharedChange change = new SharedChange(this, there, writer, clock);
                List<Runnable> made =
                    changes.stream().flatMap(each -> each.attempt(change).stream()).toList();
                change.write();
                return made;
              });
      done.forEach(Runnable::run);
    } catch (Exception e) {
      // Whatever Hazelcast throws is for those who wait.
      changes.forEach(each -> each.outcome().tryFail(e));
    }
  }

  /** Ends the listeners. */
  void close() {
    document.close();
    assignments.close();
    overrides.close();
  }

  private Optional<ConfigState> read() {
    return document.read().map(there -> new ConfigState(there, assignments.all(), overrides.all()));
  }

  private void replace(Optional<ConfigState> there, ConfigState next) {
    if (there.isPresent() && there.get().is(next)) {
      return;
    }
    ConfigState before =
        there.orElseGet(() -> new ConfigState(next.document(), assignments.all(), overrides.all()));
    write(
        there.map(ConfigState::document),
        next.document(),
        before.assignments().differences(next.assignments()),
        before.overrides().differences(next.overrides()));
  }

  /** Puts {@code next} in the place of {@code there}, and changes keys; by who holds the lock. */
  void write(
      Optional<ConfigDocument> there,
      ConfigDocument next,
      Map<String, Optional<String>> plans,
      Map<String, Optional<KeyOverride>> numbers) {
    Optional<ConfigDocument> shown = there;
    if (there.isPresent() && !plans.isEmpty()) {
      // No key may be on a plan that is not there, not even for the time that writing takes.
      ConfigDocument both = there.get().withPlansOf(next);
      if (!both.equals(there.get())) {
        document.write(there, both);
        shown = Optional.of(both);
      }
    }
    assignments.write(plans);
    overrides.write(numbers);
    document.write(shown, next);
  }
}
