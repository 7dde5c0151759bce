package dev.weir.lease;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** On the oldest Redis that is supported, where the bundled binary runs. */
final class BundledRedisUsageStoreTest extends RedisUsageStoreContract {
  private static Optional<RedisServer> server = Optional.empty();

  @BeforeAll
  static void startServer() {
    try {
      server = Optional.of(RedisServer.startBundled());
    } catch (RuntimeException e) {
      Assumptions.abort("the bundled Redis does not run here: " + e.getMessage());
    }
  }

  @AfterAll
  static void closeServer() {
    server.ifPresent(RedisServer::close);
  }

  @Override
  StoreUrl url() {
    return StoreUrl.parse(server.orElseThrow().url());
  }

  @Override
  List<RedisServer> servers() {
    return List.of(server.orElseThrow());
  }

  @Override
  RedisTime.Commands commands() {
    return new RedisTime.Standalone(server.orElseThrow().probe());
  }
}
