package dev.weir.lease;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Asks several servers, one after the other, where something is, until one knows. Each is asked
 * over a connection of its own, which ends with the answer: the question is rare, and a server that
 * hangs must not hold up the next time.
 */
final class RedisInquiry {
  private static final long PATIENCE_MILLIS = 1000;

  private final Vertx vertx;
  private final RedisAccess access;

  RedisInquiry(Vertx vertx, RedisAccess access) {
    this.vertx = vertx;
    this.access = access;
  }

  /**
   * Asks until there is an answer.
   *
   * @param servers in the order in which to ask them
   * @param read makes the answer of a reply and the server that gave it; throws if there is none
   * @return the first answer, or why the last server had none
   */
  <T> Future<T> ask(List<StoreUrl.Address> servers, Request question, Reading<T> read) {
    Future<T> answer = Future.failedFuture(VertxException.noStackTrace("nobody to ask"));
    for (StoreUrl.Address server : servers) {
      Function<Throwable, Future<T>> next = failure -> ask(server, question, read);
      answer = answer.recover(next);
    }
    return answer;
  }

  private <T> Future<T> ask(StoreUrl.Address server, Request question, Reading<T> read) {
    Redis client = Redis.createClient(vertx, access.to(server));
    return client
        .send(question)
        .timeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
        .eventually(client::close)
        .map(reply -> read.answer(reply, server));
  }

  /** Makes an answer of a reply. */
  interface Reading<T> {
    T answer(Response reply, StoreUrl.Address from);
  }
}
