package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/security.md are what a node takes. */
class SecurityPageTest {

  @TempDir Path directory;

  @Test
  void theFileOfTokensIsGood() throws IOException {
    AdminTokens tokens =
        AdminTokens.parse(
            example("text", "# NAME: TOKEN").getBytes(StandardCharsets.UTF_8),
            Optional.empty(),
            Optional.empty());

    assertThat(tokens.callerOf("Yk1u7QmT4oPz9s6wLrXe3g")).contains(new Caller("deploy"));
  }

  @Test
  void theSettingsOfTlsAreGood() throws IOException {
    Path file = Files.writeString(directory.resolve("weir.yaml"), example("yaml", "http:"));
    SettingsReader reader = new SettingsReader();
    reader.add(SettingsFile.read(file));
    Settings settings = reader.settings();

    assertThat(settings.http().tls().orElseThrow().clientAuthorities()).isEmpty();
    assertThat(settings.admin().tls().orElseThrow().clientAuthorities())
        .contains(Path.of("/etc/weir/tls/operators.pem"));
    assertThat(settings.admin().tokensFile()).contains(Path.of("/etc/weir/tokens"));
  }

  /** The example in {@code language} that begins with {@code start}. */
  private static String example(String language, String start) throws IOException {
    String page = Files.readString(Repository.root().resolve("docs/security.md"));
    Matcher found =
        Pattern.compile("```" + language + "\n(" + Pattern.quote(start) + "[^`]*)```")
            .matcher(page);
    assertThat(found.find()).isTrue();
    return found.group(1);
  }
}
