package dev.weir.client;

import io.vertx.core.Vertx;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.shareddata.LocalMap;

/** Makes checks and decisions things that the event bus can carry. */
public final class CheckCodecs {

  private CheckCodecs() {}

  /**
   * Registers the default codecs of {@link CheckRequest} and {@link Decision} with {@code vertx},
   * once, however often and from whichever thread it is called. {@link RateLimiter#create} and a
   * node do it by themselves.
   */
  public static void register(Vertx vertx) {
    LocalMap<String, Boolean> registered = vertx.sharedData().getLocalMap("dev.weir.codecs");
    registered.computeIfAbsent(
        "registered",
        first -> {
          EventBus bus = vertx.eventBus();
          bus.registerDefaultCodec(CheckRequest.class, new CheckRequestCodec());
          bus.registerDefaultCodec(Decision.Allowed.class, new DecisionCodec<>("weir.allowed"));
          bus.registerDefaultCodec(Decision.Denied.class, new DecisionCodec<>("weir.denied"));
          return true;
        });
  }
}
