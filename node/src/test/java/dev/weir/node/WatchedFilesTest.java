package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.weir.node.WatchedFiles.Source;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class WatchedFilesTest {

  @TempDir Path directory;

  private final List<String> changes = new ArrayList<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private Path first;
  private Path second;

  @BeforeEach
  void begin() throws IOException {
    first = Files.writeString(directory.resolve("first"), "a");
    second = Files.writeString(directory.resolve("second"), "b");
    log.start();
    logger().setLevel(Level.INFO);
    logger().addAppender(log);
  }

  @AfterEach
  void end() {
    logger().detachAppender(log);
    logger().setLevel(null);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(WatchedFiles.class);
  }

  private WatchedFiles<String> watched() {
    return WatchedFiles.read(
        List.of(new Source("a.setting", first), new Source("b.setting", second)),
        WatchedFilesTest::joined);
  }

  private static String joined(List<byte[]> contents) {
    String text = "";
    for (byte[] content : contents) {
      text += new String(content, StandardCharsets.UTF_8);
    }
    if (text.contains("bad")) {
      throw new FileRefusedException(0, List.of("line 1: is bad"));
    }
    return text;
  }

  private Future<?> take(String made) {
    changes.add(made);
    return Future.succeededFuture();
  }

  private List<String> told() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void aChangeOfAnyFileIsTakenInOnce() throws IOException {
    WatchedFiles<String> files = watched();
    assertThat(files.current()).isEqualTo("ab");

    files.look(this::take);
    Files.writeString(second, "c");
    files.look(this::take);
    files.look(this::take);

    assertThat(changes).containsExactly("ac");
    assertThat(files.current()).isEqualTo("ac");
    assertThat(told()).containsExactly("a.setting: " + first + ": is in force as it is now");
  }

  @Test
  void whatIsWrongLeavesWhatThereWasAndIsToldOnce() throws IOException {
    WatchedFiles<String> files = watched();

    Files.writeString(first, "bad");
    files.look(this::take);
    files.look(this::take);
    Files.delete(second);
    files.look(this::take);
    files.look(this::take);

    assertThat(files.current()).isEqualTo("ab");
    assertThat(changes).isEmpty();
    assertThat(told())
        .containsExactly(
            "a.setting: " + first + ": line 1: is bad; what was read before stays in force",
            "b.setting: " + second + ": no such file; what was read before stays in force");
  }

  @Test
  void whatIsMendedIsTakenInAndCanBreakAgain() throws IOException {
    WatchedFiles<String> files = watched();

    Files.writeString(first, "bad");
    files.look(this::take);
    Files.writeString(first, "a");
    files.look(this::take);
    Files.writeString(first, "bad");
    files.look(this::take);
    Files.writeString(first, "good");
    files.look(this::take);

    assertThat(changes).containsExactly("goodb");
    assertThat(told()).filteredOn(line -> line.contains("is bad")).hasSize(2);
  }

  @Test
  void whatIsNotTakenLeavesWhatThereWasAndIsToldOnce() throws IOException {
    WatchedFiles<String> files = watched();

    Files.writeString(first, "c");
    files.look(made -> Future.failedFuture("not listening"));
    files.look(this::take);

    assertThat(files.current()).isEqualTo("ab");
    assertThat(changes).isEmpty();
    assertThat(told())
        .containsExactly("a.setting: " + first + ": what was read before stays in force");
    Files.writeString(first, "d");
    files.look(this::take);
    assertThat(files.current()).isEqualTo("db");
  }

  @Test
  void atTheStartWhatIsWrongIsRefused() throws IOException {
    Files.writeString(second, "bad");
    assertRefused("line 1: is bad");
    Files.delete(first);
    assertRefused("no such file");
    Files.createDirectory(first);
    assertRefused("cannot be read");
    Files.delete(first);
    Files.write(first, new byte[(1 << 20) + 1]);
    assertRefused("is larger than 1 MiB");
  }

  private void assertRefused(String reason) {
    assertThatThrownBy(this::watched)
        .isInstanceOf(SettingsRefusedException.class)
        .hasMessage("a.setting: " + first + ": " + reason);
  }
}
