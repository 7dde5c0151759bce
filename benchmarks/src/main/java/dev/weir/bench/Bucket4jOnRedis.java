package dev.weir.bench;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Bucket4j with its buckets in Redis, over one connection of Lettuce. Owned by one event loop. */
final class Bucket4jOnRedis implements AutoCloseable {

  private static final BucketConfiguration CONFIGURATION =
      BucketConfiguration.builder()
          .addLimit(
              limit ->
                  limit
                      .capacity(Contenders.LIMIT)
                      .refillGreedy(Contenders.LIMIT, Duration.ofSeconds(1)))
          .build();

  private final RedisClient client;
  private final AsyncProxyManager<byte[]> buckets;
  private final Map<String, AsyncBucketProxy> known = new HashMap<>();

  Bucket4jOnRedis(String url) {
    client = RedisClient.create(url);
    buckets =
        Bucket4jLettuce.casBasedBuilder(client)
            .expirationAfterWrite(
                ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(
                    Duration.ofMinutes(1)))
            .build()
            .asAsync();
  }

  Future<Boolean> check(String key) {
    AsyncBucketProxy bucket =
        known.computeIfAbsent(
            key,
            first ->
                buckets
                    .builder()
                    .build(
                        first.getBytes(StandardCharsets.UTF_8),
                        () -> CompletableFuture.completedFuture(CONFIGURATION)));
    return Future.fromCompletionStage(bucket.tryConsume(1), Vertx.currentContext());
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
