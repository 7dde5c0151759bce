package dev.weir.lease;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A store of usage whose user may do what {@code docs/operations.md} says, and no more. */
final class AclUsageStoreIT extends RedisUsageStoreContract {
  private static RedisServer server;
  private static StoreUrl url;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
    url = DocumentedUser.in(server, "~time:*");
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @Override
  StoreUrl url() {
    return url;
  }

  @Override
  List<RedisServer> servers() {
    return List.of(server);
  }

  @Override
  RedisTime.Commands commands() {
    return new RedisTime.Standalone(server.probe());
  }
}
