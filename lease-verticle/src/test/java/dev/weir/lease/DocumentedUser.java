package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The user of Redis that {@code docs/operations.md} says is enough for a node. */
final class DocumentedUser {
  private static final Pattern COMMAND = Pattern.compile("```text\n(ACL SETUSER weir [^`]*)```");

  private DocumentedUser() {}

  /**
   * Makes the user.
   *
   * @param more what tests need beside, which nodes do not
   * @return how a node reaches the server as this user
   */
  static StoreUrl in(RedisServer server, String... more) {
    try {
      Matcher found = COMMAND.matcher(Files.readString(Path.of("..", "docs", "operations.md")));
      assertThat(found.find()).isTrue();
      List<String> command = new ArrayList<>(List.of(found.group(1).strip().split("\\s+")));
      assertThat(command).contains("-@all", "~weir:*");
      command.addAll(List.of(more));
      assertThat(server.call(command.toArray(String[]::new))).isEqualTo("OK");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return StoreUrl.parse(server.url().replace("//", "//weir:PASSWORD@"));
  }
}
