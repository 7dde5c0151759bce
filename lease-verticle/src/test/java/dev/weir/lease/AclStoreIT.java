package dev.weir.lease;

import static dev.weir.lease.StoreDriver.limit;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Limit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store whose user may do what {@code docs/operations.md} says that it has to, and no more. */
final class AclStoreIT extends StoreContract {
  private static final Pattern COMMAND = Pattern.compile("```text\n(ACL SETUSER weir [^`]*)```");

  /** Of virtual time, beside those of the store. */
  private static final List<String> NAMES_OF_TIME = List.of("~time:*", "~expiries:*");

  private static RedisServer server;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
    List<String> command = documented();
    assertThat(command).contains("-@all");
    command.addAll(NAMES_OF_TIME);
    assertThat(server.call(command.toArray(String[]::new))).isEqualTo("OK");
  }

  private static List<String> documented() {
    try {
      String text = Files.readString(Path.of("..", "docs", "operations.md"));
      Matcher found = COMMAND.matcher(text);
      assertThat(found.find()).isTrue();
      return new ArrayList<>(List.of(found.group(1).strip().split("\\s+")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  private static StoreUrl url() {
    return StoreUrl.parse(server.url().replace("//", "//weir:PASSWORD@"));
  }

  @Override
  StoreDriver open(String prefix) {
    return RedisTime.store(vertx, url(), new RedisTime.Standalone(server.probe()), time, prefix);
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
