package dev.weir.client;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How a node makes its limiter known to the other verticles of its Vert.x, so that they ask it by a
 * call and not by a message. Safe to use from any thread.
 */
public final class LocalLimiters {

  private LocalLimiters() {}

  /** From now on {@code limiter} answers the checks of this Vert.x; it replaces an earlier one. */
  public static void register(Vertx vertx, RateLimiter limiter) {
    slot(vertx).current.set(limiter);
  }

  /** Takes {@code limiter} back; without effect if another has replaced it since. */
  public static void unregister(Vertx vertx, RateLimiter limiter) {
    slot(vertx).current.compareAndSet(limiter, null);
  }

  static Slot slot(Vertx vertx) {
    LocalMap<String, Slot> slots = vertx.sharedData().getLocalMap("dev.weir.limiters");
    return slots.computeIfAbsent("node", first -> new Slot());
  }

  /** Holds the limiter of one Vert.x while there is one. */
  static final class Slot implements Shareable {

    private final AtomicReference<RateLimiter> current = new AtomicReference<>();

    Optional<RateLimiter> limiter() {
      return Optional.ofNullable(current.get());
    }
  }
}
