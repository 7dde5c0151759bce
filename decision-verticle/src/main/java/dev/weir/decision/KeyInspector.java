package dev.weir.decision;

import io.vertx.core.Future;

/** Looks at a key without spending anything. Safe to use from any thread. */
@FunctionalInterface
public interface KeyInspector {

  /**
   * The limits of {@code key}, read from the store now.
   *
   * @return a future that fails with {@code CheckRefusedException} (403) if the key has no plan
   */
  Future<KeyLimits> inspect(String key);
}
