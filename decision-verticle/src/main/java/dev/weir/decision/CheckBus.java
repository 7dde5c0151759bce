package dev.weir.decision;

import dev.weir.client.CheckAddresses;
import dev.weir.client.CheckCodecs;
import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.CheckRequestJson;
import dev.weir.client.Decision;
import dev.weir.client.DecisionJson;
import dev.weir.client.RateLimiter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The event-bus endpoint: {@link CheckAddresses#LOCAL}, and {@link CheckAddresses#CLUSTER} for the
 * members of a Vert.x cluster that run no node.
 *
 * <p>A {@code JsonObject} is replied a {@code JsonObject}, a {@link CheckRequest} a {@link
 * Decision}. A refusal fails the message with its code, 400, 403, 404 or 422; a fault of ours with
 * 500.
 */
final class CheckBus {

  private final RateLimiter limiter;
  private final FaultLog faults;
  private final List<MessageConsumer<Object>> consumers = new ArrayList<>();

  private CheckBus(RateLimiter limiter, LongSupplier epochMillis) {
    this.limiter = limiter;
    this.faults = new FaultLog(epochMillis);
  }

  /**
   * Serves the addresses from now on, on the context that calls.
   *
   * @param clustered whether to serve the cluster as well
   * @return the endpoint, once every member of the cluster can reach it
   */
  static Future<CheckBus> serve(
      Vertx vertx, RateLimiter limiter, boolean clustered, LongSupplier epochMillis) {
    CheckCodecs.register(vertx);
    CheckBus endpoint = new CheckBus(limiter, epochMillis);
    EventBus bus = vertx.eventBus();
    endpoint.consumers.add(bus.localConsumer(CheckAddresses.LOCAL, endpoint::check));
    if (clustered) {
      endpoint.consumers.add(bus.consumer(CheckAddresses.CLUSTER, endpoint::check));
    }
    return Future.all(endpoint.consumers.stream().map(MessageConsumer::completion).toList())
        .map(endpoint);
  }

  /** Serves no more; complete when no member of the cluster asks here any longer. */
  Future<Void> stop() {
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList()).mapEmpty();
  }

  private void check(Message<Object> message) {
    try {
      Object body = message.body();
      if (body instanceof CheckRequest request) {
        limiter.check(request).onComplete(message::reply, failure -> fail(message, failure));
      } else if (body instanceof JsonObject json) {
        limiter
            .check(CheckRequestJson.fromJson(json))
            .map(DecisionJson::toJson)
            .onComplete(message::reply, failure -> fail(message, failure));
      } else {
        throw CheckRefusedException.badRequest("body: must be a JsonObject or a CheckRequest");
      }
    } catch (RuntimeException failure) {
      fail(message, failure);
    }
  }

  private void fail(Message<Object> message, Throwable failure) {
    if (failure instanceof CheckRefusedException refused) {
      message.fail(refused.code(), refused.getMessage());
    } else {
      faults.tell("a check over the event bus", failure);
      message.fail(500, "the fault is ours; it has been logged");
    }
  }
}
