package dev.weir.node;

import dev.weir.config.Configuration;
import dev.weir.config.Limit;
import dev.weir.lease.StoreAwayException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Forgets what a key has used: in the store, and then on every node. The other way round a node
 * would learn from the store what it has just dropped.
 */
final class KeyReset {

  /** What nodes are asked to do. */
  static final String CALL = "forget";

  private static final String KEY = "key";

  private final Configuration configuration;
  private final BiFunction<String, Set<Limit>, Future<Void>> store;
  private final Function<JsonObject, Future<NodeBus.Answers>> nodes;

  /**
   * @param store forgets limits of a key, or fails with {@link StoreAwayException}
   * @param nodes asks all of them to {@link #obey}
   */
  KeyReset(
      Configuration configuration,
      BiFunction<String, Set<Limit>, Future<Void>> store,
      Function<JsonObject, Future<NodeBus.Answers>> nodes) {
    this.configuration = configuration;
    this.store = store;
    this.nodes = nodes;
  }

  /**
   * Complete when the store and all nodes have forgotten. Fails with {@link RefusedCallException}
   * (503) if one of them does not say so in time.
   */
  Future<Void> reset(String key) {
    return store
        .apply(key, limits())
        .recover(failure -> Future.failedFuture(refused(failure)))
        .compose(forgotten -> nodes.apply(new JsonObject().put(KEY, key)))
        .compose(
            answers ->
                answers.silent().isEmpty()
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        new RefusedCallException(
                            503,
                            "nodes: no answer from "
                                + String.join(", ", answers.silent())
                                + " within "
                                + NodeBus.ANSWER_MILLIS
                                + " ms; the store and the others have forgotten the key: ask"
                                + " again")));
  }

  /** The key may have been checked under any plan. */
  private Set<Limit> limits() {
    return configuration.current().plans().values().stream()
        .flatMap(plan -> plan.limits().stream())
        .collect(Collectors.toSet());
  }

  private static Throwable refused(Throwable failure) {
    if (!(failure instanceof StoreAwayException away)) {
      return failure;
    }
    return new RefusedCallException(
        503,
        "store: "
            + Quoted.printable(String.valueOf(away.getMessage()))
            + (away.unsent()
                ? "; nothing was forgotten"
                : "; it may have forgotten the key, no node has: ask again"));
  }

  /** What a node does that is asked; {@code forget} drops what it has of a key. */
  static Function<JsonObject, JsonObject> obey(Consumer<String> forget) {
    return question -> {
      forget.accept(question.getString(KEY));
      return new JsonObject();
    };
  }
}
