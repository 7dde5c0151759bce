package dev.weir.lease;

import io.vertx.core.Future;

/** The Redis nodes that make up a store, and which key is on which. Owned by one context. */
interface RedisNodes {

  /** Connects to all; fails when one is out of reach, and goes on trying. */
  Future<Void> start();

  /** Whether all are connected and answer in time. Safe to use from any thread. */
  boolean isHealthy();

  /** Makes a step on the node of its key; never fails. */
  Future<RefillOutcome> refill(String tag, Errand errand);

  /** Something to be done by the script. */
  interface Errand {

    /** The step that does it in an epoch of the store. */
    RefillScript.Step at(long epoch);
  }

  Future<Void> close();
}
