package dev.weir.client;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.time.Duration;
import java.util.Optional;

/**
 * Asks the node in this Vert.x if there is one, else the nodes of the cluster. Which it is may
 * change while the application runs: verticles come and go in any order.
 */
final class BusRateLimiter implements RateLimiter {

  private final Vertx vertx;
  private final LocalLimiters.Slot local;
  private final DeliveryOptions options;

  BusRateLimiter(Vertx vertx, Duration timeout) {
    CheckCodecs.register(vertx);
    this.vertx = vertx;
    this.local = LocalLimiters.slot(vertx);
    this.options = new DeliveryOptions().setSendTimeout(timeout.toMillis());
  }

  @Override
  public Future<Decision> check(CheckRequest request) {
    Optional<RateLimiter> node = local.limiter();
    if (node.isPresent()) {
      return node.get().check(request);
    }
    if (!vertx.isClustered()) {
      return Future.failedFuture(
          new IllegalStateException(
              "no Weir node runs in this Vert.x, which is in no cluster that could have one"));
    }
    return vertx
        .eventBus()
        .<Decision>request(CheckAddresses.CLUSTER, request, options)
        .map(Message::body)
        .recover(failure -> Future.failedFuture(refusalOr(failure)));
  }

  private static Throwable refusalOr(Throwable failure) {
    if (failure instanceof ReplyException reply
        && reply.failureType() == ReplyFailure.RECIPIENT_FAILURE
        && CheckRefusedException.isCode(reply.failureCode())) {
      return CheckRefusedException.ofReply(reply.failureCode(), reply.getMessage());
    }
    return failure;
  }
}
