package dev.weir.lease;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Optional;

/**
 * Where the master is that Sentinels watch over. They are asked whenever a connection is made, as
 * <a href="https://redis.io/docs/latest/develop/reference/sentinel-clients/">the guidelines for
 * clients</a> say; on a failover they end the connections to the old master.
 */
final class SentinelMaster {
  private final StoreUrl.Sentinel url;
  private final RedisInquiry inquiry;

  SentinelMaster(Vertx vertx, StoreUrl.Sentinel url) {
    this.url = url;
    this.inquiry = new RedisInquiry(vertx, new RedisAccess(url.tls(), Optional.empty(), 0));
  }

  Future<StoreUrl.Address> find() {
    Request question =
        Request.cmd(Command.SENTINEL).arg("GET-MASTER-ADDR-BY-NAME").arg(url.master());
    return inquiry.ask(url.sentinels(), question, (reply, from) -> address(reply));
  }

  private StoreUrl.Address address(Response reply) {
    if (reply == null) {
      throw VertxException.noStackTrace("Sentinel knows no master '" + url.master() + "'");
    }
    return new StoreUrl.Address(reply.get(0).toString(), reply.get(1).toInteger());
  }
}
