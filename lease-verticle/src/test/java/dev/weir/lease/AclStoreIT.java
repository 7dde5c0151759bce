package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Limit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store whose user may do what {@code docs/operations.md} says that it has to, and no more. */
final class AclStoreIT extends StoreContract {
  private static RedisServer server;
  private static StoreUrl url;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
    // More for virtual time.
    url = DocumentedUser.in(server, "~time:*", "~expiries:*", "+zscore");
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @BeforeEach
  void startEmpty() {
    server.call("FLUSHALL");
    server.call("ACL", "LOG", "RESET");
  }

  @Override
  StoreDriver open(String prefix) {
    return RedisTime.store(vertx, url, new RedisTime.Standalone(server.probe()), time, prefix);
  }

  @Test
  void nothingIsRefusedAndNothingElseIsAllowed() {
    Limit limit = limit(1, Duration.ofSeconds(1), 10);
    assertThat(store.granted("acme", limit, 1)).isEqualTo(1);
    server.call("SCRIPT", "FLUSH");
    assertThat(store.granted("acme", limit, 1)).isEqualTo(1);
    assertThat((List<?>) server.call("ACL", "LOG")).isEmpty();
    try (RedisProbe user = server.probe()) {
      assertThat(user.call("AUTH", "weir", "PASSWORD")).isEqualTo("OK");
      assertThat(user.call("GET", "another:name").toString()).startsWith("NOPERM");
      assertThat(user.call("FLUSHALL").toString()).startsWith("NOPERM");
      assertThat(user.call("KEYS", "*").toString()).startsWith("NOPERM");
    }
  }
}
